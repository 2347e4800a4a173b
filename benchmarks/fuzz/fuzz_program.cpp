// SPDX-License-Identifier: BSD-3-Clause
//
// Damaged programs against the runtime: whatever the bytes are, loading and running them must give
// an error or a result, and touch no memory but its own. Build it with sanitizers.
//
// With its own driver (no libFuzzer needed):
//   fuzz_program SEED ITERATIONS model.pte...
// changes the models in random places, deterministically by seed, and prints how many changed files
// got how far. With -DFUZZ_LIBFUZZER it is a target for clang's -fsanitize=fuzzer instead.
//
// Kernels: with -DFUZZ_REAL_KERNELS those of a generated library (register_all_kernels), else one
// that reads every argument and writes every planned tensor. Real kernels read memory as bools that
// a damaged program filled with other types: build with -fno-sanitize=bool then. They also write
// where the program says, and that may be the program itself (docs/runtime.md, "Damaged programs"):
// a file that does so is left there and counted. Tensors of a damaged program may overlap, too, and
// AddressSanitizer reports the memcpy() between them: ASAN_OPTIONS=suppressions=FILE with the line
// interceptor_via_fun:copy_same_dtype.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "run_file.h"

#ifdef FUZZ_LIBFUZZER

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  prepare();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Reached reached;
  const Copy copy(data, size);
  run_file(copy.begin, size, reached);
  return 0;
}

#else

namespace {

/// xorshift64*: the same sequence everywhere.
struct Random {
  uint64_t state;
  uint32_t next() {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return static_cast<uint32_t>(state * 0x2545f4914f6cdd1dull >> 32);
  }
  uint32_t below(size_t bound) { return static_cast<uint32_t>(next() % bound); }
};

/// One change: a byte, a number that is likely to hurt, or a copy of another place. Offsets are
/// drawn from the program, which comes before the segments.
void change(uint8_t* data, size_t size, size_t program_size, Random& random) {
  static const uint32_t kNumbers[] = {0,          1,          2,          3,          0xff,
                                      0x7f,       0x80,       0xffff,     0x7fffffff, 0x80000000,
                                      0xffffffff, 0xfffffffe, 0x10000000, 0x40000000};
  const size_t bound = random.below(8) == 0 ? size : program_size;
  const size_t at = random.below(bound);
  switch (random.below(6)) {
    case 0:
      data[at] = static_cast<uint8_t>(random.next());
      break;
    case 1:
      data[at] ^= static_cast<uint8_t>(1u << random.below(8));
      break;
    case 2: {
      const uint32_t number = kNumbers[random.below(sizeof(kNumbers) / sizeof(kNumbers[0]))];
      memcpy(data + at / 4 * 4, &number, size - at / 4 * 4 < 4 ? 1 : 4);
      break;
    }
    case 3: {
      uint32_t number;
      if (at / 4 * 4 + 4 <= size) {
        memcpy(&number, data + at / 4 * 4, 4);
        number += random.below(9) - 4;
        memcpy(data + at / 4 * 4, &number, 4);
      }
      break;
    }
    case 4: {
      const size_t length = 1 + random.below(16);
      const size_t from = random.below(bound);
      if (at + length <= size && from + length <= size) {
        memmove(data + at, data + from, length);
      }
      break;
    }
    default:
      data[at] = static_cast<uint8_t>(data[at] + random.below(5) - 2);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: fuzz_program SEED ITERATIONS model.pte...\n");
    return 2;
  }
  Random random{std::strtoull(argv[1], nullptr, 10) * 0x9e3779b97f4a7c15ull | 1};
  const unsigned long iterations = std::strtoul(argv[2], nullptr, 10);
  std::vector<std::vector<uint8_t> > models;
  for (int i = 3; i < argc; ++i) {
    std::FILE* file = std::fopen(argv[i], "rb");
    if (file == nullptr) {
      std::perror(argv[i]);
      return 2;
    }
    std::vector<uint8_t> bytes(1 << 24);
    bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
    std::fclose(file);
    models.push_back(std::move(bytes));
  }
  prepare();
  Reached reached;
  const char* save = std::getenv("FUZZ_SAVE");  // the file that runs, to be found after a crash
  for (const std::vector<uint8_t>& model : models) {
    const Copy copy(model.data(), model.size());
    run_file(copy.begin, copy.size, reached);
  }
  std::printf("unchanged %zu loaded %zu methods %zu executed %zu finished %zu\n", models.size(),
              reached.loaded, reached.method_loaded, reached.executed, reached.finished);
  reached = Reached();
  for (unsigned long n = 0; n < iterations; ++n) {
    const std::vector<uint8_t>& model = models[n % models.size()];
    size_t size = model.size();
    uint64_t program_size = size;
    if (memcmp(model.data() + 8, "eh00", 4) == 0) {
      memcpy(&program_size, model.data() + 16, 8);
    }
    if (random.below(32) == 0) {
      size = random.below(size) + 1;  // cut short
    }
    Copy copy(model.data(), size);
    const size_t bound = program_size < size ? static_cast<size_t>(program_size) : size;
    for (uint32_t changes = random.below(4); changes != UINT32_MAX; --changes) {
      change(copy.begin, size, bound, random);
    }
    if (save != nullptr) {
      std::FILE* file = std::fopen(save, "wb");
      std::fwrite(copy.begin, 1, size, file);
      std::fclose(file);
    }
    run_file(copy.begin, size, reached);
  }
  std::printf("files %lu loaded %zu methods %zu executed %zu finished %zu overwritten %zu\n",
              iterations, reached.loaded, reached.method_loaded, reached.executed, reached.finished,
              reached.overwritten);
  return 0;
}

#endif
