__device__ float twice(float x) {
  return x * 2.0f + 1.0f;
}
__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float v = twice(x[i]);
    y[i] = a * v + y[i];
  }
}
__global__ void fill(int n, float* y) {
  for (int i = threadIdx.x; i < n; i += 32)
    y[i] = 3.0f;
}
