# The model, as it is, in read-only memory. MODEL is its file name.
    .section .model, "a", %progbits
    .balign 16
    .global model_begin, model_end
model_begin:
    .incbin MODEL
model_end:
    .section .note.GNU-stack, "", %progbits
