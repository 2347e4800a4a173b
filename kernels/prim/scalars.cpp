// executorch_prim operators on numbers: the arithmetic of sizes and conditions
// that a program does between its kernels. Stack: the operands, then the result.
#include <executorch/runtime/core/evalue.h>

#include "util/arith.h"
#include "util/tensor.h"

namespace gen_kernels {
namespace prim {

using ::executorch::runtime::EValue;
using ::executorch::runtime::Span;

namespace {

bool is_number(const EValue& v) { return v.isInt() || v.isDouble() || v.isBool(); }

// The number as double; an integer that a double cannot hold rounds.
double number(const EValue& v) {
  return v.isDouble() ? v.toDouble()
                      : static_cast<double>(v.isBool() ? int64_t{v.toBool()} : v.toInt());
}

int64_t integer(const EValue& v) { return v.isBool() ? int64_t{v.toBool()} : v.toInt(); }

// Checks the stack: `operands` numbers and a slot for the result.
GEN_KERNELS_NOINLINE bool check(KernelRuntimeContext& context, Span<EValue*> stack,
                                size_t operands) {
  bool ok = stack.size() >= operands + 1;
  for (size_t i = 0; ok && i < operands; ++i) {
    ok = is_number(*stack[i]);
  }
  if (!ok) {
    context.fail(Error::InvalidType);
  }
  return ok;
}

// True when either operand is a double: the operation is done in double.
bool in_double(Span<EValue*> stack) { return stack[0]->isDouble() || stack[1]->isDouble(); }

int64_t floor_division(int64_t a, int64_t b) {
  if (b == -1) {
    return wrapping_sub(int64_t{0}, a);
  }
  return a / b - ((a % b != 0 && (a % b < 0) != (b < 0)) ? 1 : 0);
}

int64_t modulus(int64_t a, int64_t b) {
  const int64_t r = b == -1 ? 0 : a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// Refuses division by zero, as Python does.
bool check_divisor(KernelRuntimeContext& context, const EValue& divisor) {
  const bool ok = number(divisor) != 0;
  if (!ok) {
    context.fail(Error::InvalidArgument);
  }
  return ok;
}

// -1, 0 or 1 as a is less than, equal to or greater than b; 2 when a NaN makes them unordered.
GEN_KERNELS_NOINLINE int order(Span<EValue*> stack) {
  if (in_double(stack)) {
    const double a = number(*stack[0]);
    const double b = number(*stack[1]);
    return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2;
  }
  const int64_t a = integer(*stack[0]);
  const int64_t b = integer(*stack[1]);
  return a < b ? -1 : a > b;
}

// The double as the nearest integer type holds it; fails for what does not fit.
void store_integer(KernelRuntimeContext& context, EValue& to, double value) {
  if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0)) {
    context.fail(Error::InvalidArgument);
    return;
  }
  to = EValue(static_cast<int64_t>(value));
}

void round_with(KernelRuntimeContext& context, Span<EValue*> stack, double (*function)(double)) {
  if (!check(context, stack, 1)) {
    return;
  }
  if (stack[0]->isDouble()) {
    store_integer(context, *stack[1], function(stack[0]->toDouble()));
  } else {
    *stack[1] = EValue(integer(*stack[0]));
  }
}

}  // namespace

void add_scalar(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (check(context, stack, 2)) {
    *stack[2] = in_double(stack) ? EValue(number(*stack[0]) + number(*stack[1]))
                                 : EValue(wrapping_add(integer(*stack[0]), integer(*stack[1])));
  }
}

void sub_scalar(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (check(context, stack, 2)) {
    *stack[2] = in_double(stack) ? EValue(number(*stack[0]) - number(*stack[1]))
                                 : EValue(wrapping_sub(integer(*stack[0]), integer(*stack[1])));
  }
}

void mul_scalar(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (check(context, stack, 2)) {
    *stack[2] = in_double(stack) ? EValue(number(*stack[0]) * number(*stack[1]))
                                 : EValue(wrapping_mul(integer(*stack[0]), integer(*stack[1])));
  }
}

void truediv_scalar(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (check(context, stack, 2) && check_divisor(context, *stack[1])) {
    *stack[2] = EValue(number(*stack[0]) / number(*stack[1]));
  }
}

void floordiv_scalar(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (check(context, stack, 2) && check_divisor(context, *stack[1])) {
    *stack[2] = in_double(stack) ? EValue(std::floor(number(*stack[0]) / number(*stack[1])))
                                 : EValue(floor_division(integer(*stack[0]), integer(*stack[1])));
  }
}

void floordiv_int(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (check(context, stack, 2) && check_divisor(context, *stack[1])) {
    if (in_double(stack)) {
      context.fail(Error::InvalidType);
      return;
    }
    *stack[2] = EValue(floor_division(integer(*stack[0]), integer(*stack[1])));
  }
}

void mod_int(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (check(context, stack, 2) && check_divisor(context, *stack[1])) {
    if (in_double(stack)) {
      context.fail(Error::InvalidType);
      return;
    }
    *stack[2] = EValue(modulus(integer(*stack[0]), integer(*stack[1])));
  }
}

void mod_scalar(KernelRuntimeContext& context, Span<EValue*> stack) { mod_int(context, stack); }

void neg_scalar(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (check(context, stack, 1)) {
    *stack[1] = stack[0]->isDouble() ? EValue(-stack[0]->toDouble())
                                     : EValue(wrapping_sub(int64_t{0}, integer(*stack[0])));
  }
}

void ceil_scalar(KernelRuntimeContext& context, Span<EValue*> stack) {
  round_with(context, stack, std::ceil);
}

// Halves go to the even neighbour, as Python's round().
void round_scalar(KernelRuntimeContext& context, Span<EValue*> stack) {
  round_with(context, stack, std::nearbyint);
}

void trunc_scalar(KernelRuntimeContext& context, Span<EValue*> stack) {
  round_with(context, stack, std::trunc);
}

void sym_int_scalar(KernelRuntimeContext& context, Span<EValue*> stack) {
  round_with(context, stack, std::trunc);
}

void sym_float_scalar(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (check(context, stack, 1)) {
    *stack[1] = EValue(number(*stack[0]));
  }
}

void eq_scalar(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (check(context, stack, 2)) {
    *stack[2] = EValue(order(stack) == 0);
  }
}

void gt_scalar(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (check(context, stack, 2)) {
    *stack[2] = EValue(order(stack) == 1);
  }
}

void lt_scalar(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (check(context, stack, 2)) {
    *stack[2] = EValue(order(stack) == -1);
  }
}

void ge_scalar(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (check(context, stack, 2)) {
    const int o = order(stack);
    *stack[2] = EValue(o == 0 || o == 1);
  }
}

void le_scalar(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (check(context, stack, 2)) {
    *stack[2] = EValue(order(stack) <= 0);
  }
}

void sym_max_scalar(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (check(context, stack, 2)) {
    *stack[2] = order(stack) == -1 ? *stack[1] : *stack[0];
  }
}

void sym_min_scalar(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (check(context, stack, 2)) {
    *stack[2] = order(stack) == 1 ? *stack[1] : *stack[0];
  }
}

void sym_not_scalar(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (check(context, stack, 1)) {
    *stack[1] = EValue(number(*stack[0]) == 0);
  }
}

void sym_ite_scalar(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (check(context, stack, 3)) {
    *stack[3] = number(*stack[0]) != 0 ? *stack[1] : *stack[2];
  }
}

}  // namespace prim
}  // namespace gen_kernels
