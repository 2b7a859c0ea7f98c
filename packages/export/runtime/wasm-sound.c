/* Sound as a microphone gives it, block by block: fewer samples a second, the levels of a gammatone filter bank frame by
   frame, and where a word begins and ends. What a model does with a word or a frame is in wasm.c. Compiled for speed. */
#include <stddef.h>
#include <stdint.h>

#include "wasm-sound-types.c"

/* At most some rows of a word, for a classifier; a frame, for a detector. */
void sound_rows(sound_state *h, const front *f, int most);
void sound_frame(sound_state *h, const front *f);

/* Samples through every filter, onto the sums of this frame. */
static void filter(sound_state *h, const front *f, const double *samples, int count)
{
  int c, n, k;
  for (c = 0; c < f->channels; c++) {
    const double a = f->filters[3 * c], b = f->filters[3 * c + 1], gain = f->filters[3 * c + 2];
    double *s = STATES(h, f) + 8 * c, sum = SUMS(h, f)[c];
    for (n = 0; n < count; n++) {
      double x = 2 * samples[n], y = 0;
      for (k = 0; k < 8; k += 2) {
        const double re = gain * x + (a * s[k] - b * s[k + 1]);
        const double im = gain * y + (a * s[k + 1] + b * s[k]);
        s[k] = x = re;
        s[k + 1] = y = im;
      }
      sum = sum + __builtin_sqrt(x * x + y * y);
    }
    SUMS(h, f)[c] = sum;
  }
}

/* A block at the rate of the filters: each sample the sum of the last given ones, weighted as a low pass. */
static int resample(sound_state *h, const front *f, const float *samples, int count)
{
  double *history = HISTORY(h), *out = BLOCK(h, f);
  int made = 0, n, k;
  for (n = 0; n < count; n++) {
    const double given = samples[n];
    /* Twice, so that the last ones lie behind one another. What is no finite number is silence. */
    history[h->newest] = history[h->newest + f->taps] = given - given == 0 ? given : 0;
    h->newest = h->newest + 1 == f->taps ? 0 : h->newest + 1;
    for (; h->wait < f->up; h->wait += f->down) {
      const double *weights = f->kernel + h->wait * f->taps, *last = history + h->newest;
      double sum = 0;
      for (k = 0; k < f->taps; k++) sum = sum + weights[k] * last[k];
      out[made++] = sum;
    }
    h->wait -= f->up;
  }
  return made;
}

/* The envelopes of a frame, and its loudness: their mean. */
static double end_frame(sound_state *h, const front *f)
{
  double *sums = SUMS(h, f), *states = STATES(h, f), *envelopes = ENVELOPES(h, f), loudness = 0;
  int c;
  for (c = 0; c < f->channels; c++) {
    envelopes[c] = sums[c] / f->frame;
    loudness = loudness + envelopes[c];
    sums[c] = 0;
  }
  /* What is left of a sound long ago: subnormal numbers are slow. */
  for (c = 0; c < 8 * f->channels; c++)
    if (states[c] < 1e-150 && states[c] > -1e-150) states[c] = 0;
  h->in_frame = 0;
  h->frames = h->frames + 1;
  return loudness / f->channels;
}

#if CLASSIFIER
/* The frames of the word that has ended with this one, 0 if none has. A word begins with two loud frames and ends with
   `quiet` that are not. What is longer than a word is the background. */
static int word_of(sound_state *h, const front *f, double loudness)
{
  const double now = h->frames - 1, least = f->scale[2] > 4 * h->noise ? f->scale[2] : 4 * h->noise;
  double *to = FRAMES(h, f) + ((int64_t)now % f->most) * f->channels, length;
  int c;
  for (c = 0; c < f->channels; c++) to[c] = ENVELOPES(h, f)[c];
  if (h->loud_frames < 2) {
    h->noise = h->noise + (loudness < h->noise ? .1 : .005) * (loudness - h->noise);
    h->loud_frames = loudness > least ? h->loud_frames + 1 : 0;
    if (h->loud_frames == 1) h->start = now > f->lead ? now - f->lead : 0;
    h->loud = now;
    h->peak = loudness;
    return 0;
  }
  if (loudness > h->peak) h->peak = loudness;
  if (loudness > least && loudness > h->peak / 50) h->loud = now;
  if (now + 1 - h->start >= f->most) h->noise = loudness;
  else if (now - h->loud < f->quiet) return 0;
  length = h->loud + 1 + f->lead - h->start;
  h->loud_frames = 0;
  return length < f->least || h->noise == loudness ? 0 : (int)length;
}

/* Keeps the word, whose levels and states are computed in the blocks that follow. */
static void begin_word(sound_state *h, const front *f, int rows)
{
  const double samples = (double)f->frame * f->down / f->up;
  int row, c;
  while (h->rows > 0) sound_rows(h, f, h->rows);
  h->top = f->scale[1];
  for (row = 0; row < rows; row++) {
    const double *from = FRAMES(h, f) + (((int64_t)h->start + row) % f->most) * f->channels;
    double *to = WORD(h, f) + row * f->channels;
    for (c = 0; c < f->channels; c++) {
      to[c] = from[c];
      if (f->scale[1] == 0 && from[c] > h->top) h->top = from[c];
    }
  }
  h->word_first = h->start * samples;
  h->word_last = (h->start + rows) * samples;
  h->rows = rows;
  h->levels = h->steps = 0;
}

#endif
/* Takes at most 128 samples. Gives 0 if nothing happened, else a class and 1, or why a detector alarms. */
__attribute__((export_name("model_process"))) int model_process(sound_state *h, const front *f, const float *samples, int count)
{
  const int made = resample(h, f, samples, count);
  int from = 0;
  h->said = 0;
#if CLASSIFIER
  /* Six times as many as there are new ones: a word is done soon, and no block takes long. */
  if (h->rows > 0) sound_rows(h, f, (6 * made + f->frame - 1) / f->frame);
#endif
  while (from < made) {
    const int left = f->frame - h->in_frame, part = left < made - from ? left : made - from;
    filter(h, f, BLOCK(h, f) + from, part);
    from += part;
    h->in_frame += part;
    if (h->in_frame == f->frame) {
      const double loudness = end_frame(h, f);
#if CLASSIFIER
      const int rows = word_of(h, f, loudness);
      if (rows > 0) begin_word(h, f, rows);
#else
      (void)loudness;
      sound_frame(h, f);
#endif
    }
  }
  return h->said;
}
