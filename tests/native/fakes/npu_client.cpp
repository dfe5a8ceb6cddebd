// Calls the fake device as programs do; how depends on how this file is compiled.
#include <dlfcn.h>
#include <setjmp.h>
#include <stdint.h>

#define CLIENT_EXPORT extern "C" __attribute__((visibility("default")))

extern "C" {
int npuLaunch(const char* name, void* function, uint64_t bytes, void* stream);
int npuCallback(void (*function)(void*), void* data);
double npuMany(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, double, const char*,
               double, uint64_t, int32_t);
}

CLIENT_EXPORT int client_launch(const char* name, uint64_t bytes) {
  return npuLaunch(name, nullptr, bytes, nullptr);
}
CLIENT_EXPORT double client_many() {
  return npuMany(1, 2, 3, 4, 5, 6, 7, 0.25, "many", 0.125, 8, -9);
}
using Launch = int (*)(const char*, void*, uint64_t, void*);
CLIENT_EXPORT int client_by_default_scope(const char* name) {
  void* const found = dlsym(RTLD_DEFAULT, "npuLaunch");
  return found != nullptr ? reinterpret_cast<Launch>(found)(name, nullptr, 0, nullptr) : -1;
}
CLIENT_EXPORT int client_by_handle(const char* library, const char* name) {
  void* const handle = dlopen(library, RTLD_LAZY);
  void* const found = handle != nullptr ? dlsym(handle, "npuLaunch") : nullptr;
  return found != nullptr ? reinterpret_cast<Launch>(found)(name, nullptr, 0, nullptr) : -1;
}
// A call that is left by a longjmp, and one after it.
CLIENT_EXPORT int client_leave(const char* name) {
  static jmp_buf place;
  if (setjmp(place) == 0) {
    npuCallback([](void* to) { longjmp(*static_cast<jmp_buf*>(to), 1); }, &place);
  }
  return npuLaunch(name, nullptr, 0, nullptr);
}
