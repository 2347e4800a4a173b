// Prints a line an operator: name, cases, differing cases, cases refused by both kernels. Exit code
// 1 when anything differs.
#include <stdio.h>

int test_conv();
int test_linear();
int test_pool();
int test_elementwise();
int test_quantize();
int test_layout();
int test_softmax();
int test_transpose_conv();

int main() {
  int wrong = 0;
  wrong += test_conv();
  wrong += test_linear();
  wrong += test_pool();
  wrong += test_elementwise();
  wrong += test_quantize();
  wrong += test_layout();
  wrong += test_softmax();
  wrong += test_transpose_conv();
  printf("%s\n", wrong == 0 ? "equal" : "DIFFERENT");
  return wrong == 0 ? 0 : 1;
}
