// What C++ has beside arithmetic: virtual functions, recursion, pointers to functions, printf,
// assert, new and delete, structs as parameters, dynamic shared memory, atomics on several types.
// Each kernel is right if `bug` is 0.
#include <cassert>
#include <cstdio>

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Disc : Shape {
  float radius;
  __device__ explicit Disc(float r) : radius(r) {}
  __device__ float area() const override { return 3.f * radius * radius; }
};

// bug 1: an object is used after it was deleted. bug 2: one is never made.
extern "C" __global__ void virtuals(float* y, int bug) {
  int t = threadIdx.x;
  Shape* shape = nullptr;
  if (bug != 2 || t != 3) shape = t % 2 ? (Shape*)new Square(t) : (Shape*)new Disc(t);
  if (bug == 1 && t == 5) delete shape;
  y[t] = shape->area();  // bug virtuals: useAfterFree outOfBounds
  if (bug != 1 || t != 5) delete shape;
}

__device__ __noinline__ int ackermann(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));  // bug recursion: stackOverflow
}
// bug 1: too deep for the stack.
extern "C" __global__ void recursion(int* y, int bug) { y[threadIdx.x] = ackermann(bug == 1 ? 3 : 2, threadIdx.x % 4 + (bug == 1 ? 5 : 0)); }

typedef int (*Operation)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int minus(int a, int b) { return a - b; }
__device__ int times(int a, int b) { return a * b; }
__device__ Operation operations[4] = {plus, minus, times, nullptr};
// bug 1: a pointer to no function.
extern "C" __global__ void pointers(const int* x, int* y, int bug) {
  int t = threadIdx.x;
  Operation operation = operations[bug == 1 && t == 7 ? 3 : t % 3];
  y[t] = operation(x[t], t);  // bug pointers: illegalInstruction
}

// bug 1: a number that the assertion excludes.
extern "C" __global__ void messages(const int* x, int bug) {
  int t = threadIdx.x;
  assert(bug != 1 || x[t] != 9);  // bug messages: assertion
  if (t < 2) printf("thread %d of %s has %5.2f and %llx%c\n", t, "the block", x[t] * 0.5, 0x123456789aULL + t, '!');
}

struct Item {
  char kind;
  double weight;
  int counts[3];
};
struct Settings {
  float4 scale;
  dim3 size;
  Item items[2];
  int n;
};
// bug 1: an index beyond the array of the struct.
extern "C" __global__ void structs(const __grid_constant__ Settings settings, float3 offset, int* y, int bug) {
  int t = threadIdx.x;
  const Item& item = settings.items[t & 1];
  int count = item.counts[(t % 3) + (bug == 1 ? 300 : 0)];  // bug structs: outOfBounds
  y[t] = (int)(settings.scale.y * item.weight + offset.z) + count + settings.size.z + item.kind + settings.n;
}

// bug 1: more than was asked for at the launch. bug 2: the halves overlap.
extern "C" __global__ void dynamic(const float* x, double* y, int bug) {
  extern __shared__ double memory[];
  double* sums = memory;
  float* values = (float*)(memory + 64) - (bug == 2 ? 2 : 0);
  int t = threadIdx.x;
  sums[t] = t;  // bug 2 dynamic: race
  values[t + (bug == 1)] = x[t];  // bug 1 dynamic: outOfBounds // bug 2 dynamic: race
  __syncthreads();
  y[t] = sums[63 - t] + values[63 - t];
}

// A generic list: each thread has its nodes from the heap. bug 1: one list is walked after it was
// freed.
struct Node {
  int value;
  Node* next;
};
extern "C" __global__ void lists(int* y, int bug) {
  Node* head = nullptr;
  for (int k = 0; k < 3; k++) {
    Node* node = (Node*)malloc(sizeof(Node));
    node->value = threadIdx.x + k;
    node->next = head;
    head = node;
  }
  if (bug == 1 && threadIdx.x == 2) free(head);
  int sum = 0;
  for (Node* node = head; node != nullptr; node = node->next) sum = 10 * sum + node->value;  // bug lists: useAfterFree
  y[threadIdx.x] = sum;
  for (Node* node = head; node != nullptr;) {
    Node* next = node->next;
    free(node);
    node = next;
  }
}

template <typename F> __device__ void each(int n, F f) {
  for (int k = threadIdx.x; k < n; k += blockDim.x) f(k);
}
// bug 1: the last place is one too many.
extern "C" __global__ void lambdas(const int* x, long long* y, int n, int bug) {
  unsigned long long* total = (unsigned long long*)(y + n);
  each(n + (bug == 1), [=](int k) {
    long long square = (long long)x[k] * x[k];  // bug lambdas: outOfBounds
    y[k] = square;
    atomicAdd(total, square);
    atomicMax((long long*)total + 1, square);
  });
}

// As much of the stack as each thread asks for. bug 1: the last word of one is not written.
extern "C" __global__ void stacked(const int* x, int* y, int bug) {
  int t = threadIdx.x, n = x[t];
  int* kept = (int*)alloca(n * sizeof(int));
  for (int k = 0; k < n - (bug == 1 && t == 5); k++) kept[k] = t + k;
  int sum = 0;
  for (int k = 0; k < n; k++) sum += kept[n - 1 - k] * (k + 1);  // bug stacked: uninitialised
  y[t] = sum;
}
