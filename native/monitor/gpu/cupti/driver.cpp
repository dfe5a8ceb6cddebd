#include "monitor/gpu/cupti/driver.hpp"

#include <dirent.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

namespace dctx::monitor::gpu::cupti {

bool driver_present() {
  const char* const asked = std::getenv("DCTX_CUPTI_LIB");
  if (asked != nullptr && asked[0] != '\0') return true;
  for (const char* place : {"/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg"}) {
    if (access(place, F_OK) == 0) return true;
  }
  return false;
}

int listed_devices() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/driver/nvidia/gpus"), closedir);
  int count = 0;
  while (folder != nullptr) {
    const dirent* const entry = readdir(folder.get());
    if (entry == nullptr) break;
    if (entry->d_name[0] != '.') ++count;
  }
  return count;
}

std::string privileges_text() {
  return "this needs more rights: run as root or with CAP_SYS_ADMIN (CAP_PERFMON for newer "
         "drivers), or have the "
         "driver loaded "
         "with NVreg_RestrictProfilingToAdminUsers=0";
}

}  // namespace dctx::monitor::gpu::cupti
