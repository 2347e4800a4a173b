// A bench for the CV32E40P (Verilator): the core, memory without wait states, a console, an exit.
//
//   0x8000_0000  memory (--memory MiB, default 64), filled with a pattern so that a program that
//                reads memory it never wrote is seen
//   0x1000_0000  console: a byte written is printed on stdout (QEMU virt's UART)
//   0x0010_0000  exit: 0x5555 success, (code << 16) | 0x3333 failure (QEMU virt's test finisher)
//
// Both OBI ports grant in the cycle of the request and answer in the next one.

#include <verilated.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "Vcv32e40p_top.h"
#include "Vcv32e40p_top___024root.h"

namespace {

constexpr uint32_t kBase = 0x80000000u;
constexpr uint32_t kConsole = 0x10000000u;
constexpr uint32_t kFinisher = 0x00100000u;

enum : int { kUsage = 100, kTimeout = 101, kBusFault = 102, kBadFile = 103, kAsleep = 104 };

struct Options {
  std::string image;
  std::string trace;
  uint64_t max_cycles = UINT64_MAX;
  uint32_t memory_mib = 64;
};

class Memory {
 public:
  explicit Memory(uint32_t bytes) : words_(bytes / 4, 0xdeadbeefu) {}

  bool holds(uint32_t address, uint64_t bytes) const {
    return address >= kBase && address - kBase + bytes <= words_.size() * 4;
  }
  uint32_t& word(uint32_t address) { return words_[(address - kBase) / 4]; }
  uint8_t* bytes(uint32_t address) {
    return reinterpret_cast<uint8_t*>(words_.data()) + (address - kBase);
  }

 private:
  std::vector<uint32_t> words_;
};

bool read_file(const std::string& path, std::vector<uint8_t>& out) {
  FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    return false;
  }
  uint8_t buffer[65536];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) != 0;) {
    out.insert(out.end(), buffer, buffer + n);
  }
  const bool good = std::ferror(file) == 0;
  std::fclose(file);
  return good;
}

uint32_t little(const std::vector<uint8_t>& data, size_t at, int bytes) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    value |= static_cast<uint32_t>(data[at + i]) << (8 * i);
  }
  return value;
}

// Loads a 32-bit RISC-V ELF (by physical addresses) or a raw image (at the start of memory).
// Returns an error text, empty when loaded.
std::string load(const std::vector<uint8_t>& image, Memory& memory, uint32_t& entry) {
  if (image.size() < 52 || std::memcmp(image.data(),
                                       "\x7f"
                                       "ELF",
                                       4) != 0) {
    if (image.empty() || !memory.holds(kBase, image.size())) {
      return "empty, or larger than the memory";
    }
    std::memcpy(memory.bytes(kBase), image.data(), image.size());
    entry = kBase;
    return "";
  }
  if (image[4] != 1 || image[5] != 1 || little(image, 18, 2) != 243) {
    return "not a 32-bit little-endian RISC-V ELF";
  }
  entry = little(image, 24, 4);
  const uint64_t table = little(image, 28, 4);
  const uint32_t stride = little(image, 42, 2);
  const uint32_t count = little(image, 44, 2);
  if (stride < 32 || table + uint64_t{stride} * count > image.size()) {
    return "damaged program headers";
  }
  for (uint32_t i = 0; i < count; ++i) {
    const size_t at = table + uint64_t{stride} * i;
    const uint64_t offset = little(image, at + 4, 4);
    const uint32_t address = little(image, at + 12, 4);
    const uint64_t size = little(image, at + 16, 4);
    if (little(image, at, 4) != 1 || size == 0) {
      continue;
    }
    if (offset + size > image.size()) {
      return "a segment lies outside the file";
    }
    if (!memory.holds(address, size)) {
      return "a segment lies outside the memory (see --memory)";
    }
    std::memcpy(memory.bytes(address), image.data() + offset, size);
  }
  return memory.holds(entry, 4) ? "" : "the entry lies outside the memory";
}

class Bench {
 public:
  Bench(const Options& options, Memory& memory, uint32_t entry, FILE* trace)
      : options_(options), memory_(memory), trace_(trace) {
    context_.randReset(0);
    core_ = std::make_unique<Vcv32e40p_top>(&context_);
    core_->boot_addr_i = entry;
    core_->mtvec_addr_i = kBase;
    core_->dm_halt_addr_i = kBase;
    core_->dm_exception_addr_i = kBase;
    core_->pulp_clock_en_i = 1;
    core_->instr_gnt_i = 1;
    core_->data_gnt_i = 1;
    core_->fetch_enable_i = 1;
    // The asynchronous reset acts on its falling edge.
    core_->rst_ni = 1;
    core_->eval();
    core_->rst_ni = 0;
    for (int i = 0; i < 4; ++i) {
      core_->clk_i = i & 1;
      core_->eval();
    }
    core_->clk_i = 0;
    core_->rst_ni = 1;
    core_->eval();
  }

  int run() {
    Vcv32e40p_top& core = *core_;
    uint32_t asleep = 0;
    while (!done_ && cycles_ < options_.max_cycles) {
      // What the core asks for in this cycle is settled; the answer comes after the clock edge.
      const bool fetch = core.instr_req_o;
      const uint32_t fetch_address = core.instr_addr_o & ~3u;
      const bool access = core.data_req_o;
      uint32_t data = 0;
      if (access) {
        data = transfer(core.data_addr_o & ~3u, core.data_we_o, core.data_be_o, core.data_wdata_o);
      }
      if (core.rootp->cv32e40p_top__DOT__core_i__DOT__id_stage_i__DOT__minstret) {
        retire();
      }
      core.clk_i = 1;
      core.eval();
      ++cycles_;
      core.instr_rvalid_i = fetch;
      if (fetch) {
        core.instr_rdata_i = memory_.holds(fetch_address, 4) ? memory_.word(fetch_address) : 0u;
      }
      core.data_rvalid_i = access;
      core.data_rdata_i = data;
      core.clk_i = 0;
      core.eval();
      asleep = core.core_sleep_o ? asleep + 1 : 0;
      if (asleep > 1000) {  // wfi, and no interrupt will ever come
        fail(kAsleep, "the core sleeps (wfi) and nothing can wake it");
      }
    }
    if (!done_) {
      fail(kTimeout, "the limit of cycles is reached");
    }
    std::fflush(stdout);
    std::fprintf(stderr, "rtl: cycles %" PRIu64 " instret %" PRIu64 "\n", cycles_, instret_);
    return code_;
  }

 private:
  void fail(int code, const char* what, uint32_t address = 0) {
    std::fflush(stdout);
    std::fprintf(stderr, "rtl: %s", what);
    if (address != 0) {
      std::fprintf(stderr, " at 0x%08" PRIx32, address);
    }
    std::fprintf(stderr, ", pc near 0x%08" PRIx32 "\n", last_pc());
    code_ = code;
    done_ = true;
  }

  uint32_t last_pc() const { return core_->rootp->cv32e40p_top__DOT__core_i__DOT__pc_id; }

  void retire() {
    ++instret_;
    if (trace_ != nullptr) {
      std::fprintf(trace_, "%" PRIu64 " %08" PRIx32 "\n", cycles_, last_pc());
    }
  }

  uint32_t transfer(uint32_t address, bool write, uint32_t enable, uint32_t value) {
    if (memory_.holds(address, 4)) {
      uint32_t& word = memory_.word(address);
      if (write) {
        const uint32_t mask = (enable & 1 ? 0xffu : 0u) | (enable & 2 ? 0xff00u : 0u) |
                              (enable & 4 ? 0xff0000u : 0u) | (enable & 8 ? 0xff000000u : 0u);
        word = (word & ~mask) | (value & mask);
      }
      return word;
    }
    if (address == kConsole) {
      if (write) {
        std::putchar(static_cast<int>(value & 0xffu));
      }
      return 0;
    }
    if (address == kFinisher && write) {
      done_ = true;
      code_ = (value & 0xffffu) == 0x5555u ? 0 : static_cast<int>(value >> 16);
      return 0;
    }
    // The core has no bus-error input: stop, rather than go on with a made-up value.
    fail(kBusFault, write ? "store outside the memory" : "load outside the memory", address);
    return 0;
  }

  const Options& options_;
  Memory& memory_;
  FILE* trace_;
  VerilatedContext context_;
  std::unique_ptr<Vcv32e40p_top> core_;
  uint64_t cycles_ = 0;
  uint64_t instret_ = 0;
  bool done_ = false;
  int code_ = 0;
};

constexpr char kHelp[] =
    "usage: bench [--max-cycles N] [--memory MIB] [--trace FILE] program.elf|image.bin\n"
    "Runs a program on the CV32E40P. Exit status: the program's, or\n"
    "100 usage, 101 too many cycles, 102 access outside memory, 103 bad file, 104 asleep for "
    "ever.\n"
    "--trace writes one line per retired instruction: cycle and pc.\n";

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool valued =
        argument == "--max-cycles" || argument == "--memory" || argument == "--trace";
    if (!valued) {
      if (argument[0] == '-' || !options.image.empty()) {
        return false;
      }
      options.image = argument;
      continue;
    }
    if (++i == argc) {
      return false;
    }
    char* end = nullptr;
    if (argument == "--trace") {
      options.trace = argv[i];
      continue;
    }
    const uint64_t number = std::strtoull(argv[i], &end, 0);
    if (*end != 0 || number == 0) {
      return false;
    }
    if (argument == "--max-cycles") {
      options.max_cycles = number;
    } else if (number > 1024) {
      return false;
    } else {
      options.memory_mib = static_cast<uint32_t>(number);
    }
  }
  return !options.image.empty();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs(kHelp, stderr);
    return kUsage;
  }
  std::vector<uint8_t> image;
  Memory memory(options.memory_mib << 20);
  uint32_t entry = 0;
  const std::string problem =
      read_file(options.image, image) ? load(image, memory, entry) : "cannot be read";
  if (!problem.empty()) {
    std::fprintf(stderr, "rtl: %s: %s\n", options.image.c_str(), problem.c_str());
    return kBadFile;
  }
  FILE* trace = nullptr;
  if (!options.trace.empty() && (trace = std::fopen(options.trace.c_str(), "w")) == nullptr) {
    std::fprintf(stderr, "rtl: %s: cannot be written\n", options.trace.c_str());
    return kBadFile;
  }
  const int code = Bench(options, memory, entry, trace).run();
  if (trace != nullptr) {
    std::fclose(trace);
  }
  return code;
}
