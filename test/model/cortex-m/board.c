/* Starts a Cortex-M without an operating system, and prints through the debugger (semihosting). */
#include <stdint.h>

extern uint32_t data_start, data_end, data_load, bss_start, bss_end, stack_top;
int main(void);

static long call(long operation, const void *argument)
{
  register long r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

/* Eight bytes as 16 hexadecimal digits and the end of a line. */
void print_bits(uint32_t high, uint32_t low)
{
  char line[18];
  int i;
  for (i = 0; i < 16; i++) {
    const uint32_t digit = ((i < 8 ? high : low) >> (28 - 4 * (i & 7))) & 15;
    line[i] = (char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
  }
  line[16] = '\n';
  line[17] = 0;
  call(0x04, line);
}

/* SysTick counts down at 25 MHz. Under -icount shift=0 an instruction takes 1 ns: 40 a tick. */
#define SYST_CSR (*(volatile uint32_t *)0xe000e010)
#define SYST_RVR (*(volatile uint32_t *)0xe000e014)
#define SYST_CVR (*(volatile uint32_t *)0xe000e018)

uint32_t ticks_left(void) { return SYST_CVR; }

void reset_handler(void)
{
  uint32_t *from = &data_load, *to;
  static uint32_t block[2] = { 0x20026, 0 };
  for (to = &data_start; to < &data_end;) *to++ = *from++;
  for (to = &bss_start; to < &bss_end;) *to++ = 0;
#if defined(__ARM_FP)
  *(volatile uint32_t *)0xe000ed88 |= 0xf << 20; /* the floating-point unit */
  __asm__ volatile("dsb\n isb");
#endif
  SYST_RVR = 0xffffff;
  SYST_CVR = 0;
  SYST_CSR = 5;
  block[1] = (uint32_t)main();
  call(0x20, block); /* SYS_EXIT_EXTENDED: the program's own status */
  for (;;) {}
}

static void fault(void)
{
  static const uint32_t block[2] = { 0x20026, 99 };
  call(0x20, block);
  for (;;) {}
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
  &stack_top, reset_handler, fault, fault, fault, fault, fault, 0, 0, 0, 0, fault, fault, 0, fault, fault,
};
