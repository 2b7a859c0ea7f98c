/* The same on a machine with an operating system. */
#include <stdint.h>
#include <stdio.h>

void print_bits(uint32_t high, uint32_t low) { printf("%08lx%08lx\n", (unsigned long)high, (unsigned long)low); }
uint32_t ticks_left(void) { return 0; }
