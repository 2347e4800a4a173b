// Linked with every runtime, whole: a program that was given two of them, of which the linker would
// silently take one, does not link. docs/builds.md says what to do then.
extern "C" void gen_kernels_two_runtimes_in_one_program();
void gen_kernels_two_runtimes_in_one_program() {}
