/* How a model takes sound: a filter bank of `channels` levels a frame, and what counts as a word, in frames. Samples come
   `down / up` times as fast as the filters take them. */
typedef struct {
  int channels, up, down, taps, frame;
  int lead, quiet, least, most;
  /* What a pass over a word works in, or a detector's state, in bytes. */
  int bytes;
  /* Of each channel the pole a + ib and the gain; of each of `up` phases the weights of the last samples. */
  const double *filters, *kernel;
  /* Decibels a unit of the logarithm over the dynamic range; the reference, 0 for a word's own; the least loudness. */
  const double *scale;
} front;

/* What is between two blocks, before the arrays. */
typedef struct {
  /* Of the last word, or of the frame of the last alarm: where it is, in samples as they come; the alarm's score. */
  double first, last, score;
  /* Frames so far, and the loudness of the silence. */
  double frames, noise;
  /* Of the word that is spoken: its first frame, its last loud one, its largest loudness. */
  double start, loud, peak;
  /* Of the word that is classified: where it is, and its largest envelope. */
  double word_first, word_last, top;
  /* What was said in this block. */
  int said;
  int wait, newest, in_frame, loud_frames;
  /* Of the word that is classified its rows, 0 if there is none, and those whose levels and whose states are computed. */
  int rows, levels, steps;
} sound_state;

/* The arrays of a sound_state, which lie behind it. */
#define HISTORY(h) ((double *)((h) + 1))
#define BLOCK(h, f) (HISTORY(h) + 2 * (f)->taps)
#define STATES(h, f) (BLOCK(h, f) + 128)
#define SUMS(h, f) (STATES(h, f) + 8 * (f)->channels)
#define ENVELOPES(h, f) (SUMS(h, f) + (f)->channels)
/* The last `most` frames, and the word. */
#define FRAMES(h, f) (ENVELOPES(h, f) + (f)->channels)
#define WORD(h, f) (FRAMES(h, f) + (f)->most * (f)->channels)
#define CLASSIFYING(h, f) ((char *)(WORD(h, f) + (f)->most * (f)->channels))
