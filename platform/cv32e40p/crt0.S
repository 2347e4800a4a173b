# Start-up code of the CV32E40P firmware: registers, memory, counters, then main(); and the trap
# entry. Interrupts stay off.
    .option arch, +zicsr

    .section .text.start, "ax"
    .globl _start
_start:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la sp, __stack_top
    la tp, __tls_base            # the C library keeps errno in thread-local storage
    la t0, trap_entry            # 256-byte aligned: CV32E40P ignores the low bits of mtvec
    csrw mtvec, t0
    csrw mscratch, zero          # no trap yet
    csrw 0x320, zero             # mcountinhibit: the core starts with its counters stopped

    la a0, __data_start
    la a1, __data_end
    la a2, __data_source
    bgeu a0, a1, 2f
1:  lw t0, 0(a2)
    addi a2, a2, 4
    sw t0, 0(a0)
    addi a0, a0, 4
    bltu a0, a1, 1b

2:  la a0, __bss_start           # both ends are 16-byte aligned
    la a1, __bss_end
    bgeu a0, a1, 4f
3:  sw zero, 0(a0)
    sw zero, 4(a0)
    sw zero, 8(a0)
    sw zero, 12(a0)
    addi a0, a0, 16
    bltu a0, a1, 3b

4:  la s0, __init_array_start    # empty unless a library registers itself statically
    la s1, __init_array_end
5:  bgeu s0, s1, 6f
    lw t0, 0(s0)
    addi s0, s0, 4
    jalr t0
    j 5b

6:  li a0, 0                     # argc, argv
    li a1, 0
    call main
    tail platform_exit

    # Here, behind the start, the alignment costs the least.
    .balign 256
trap_entry:
    csrrwi t0, mscratch, 1
    bnez t0, 7f                  # a trap while reporting one: give up silently
    la sp, trap_stack_top        # the stack may be what failed
    csrr a0, mcause
    csrr a1, mepc
    csrr a2, mtval
    tail platform_trap
7:  li a0, 63
    tail platform_exit

    .section .noinit, "aw", @nobits
    .balign 16
    .space 512
trap_stack_top:
