#pragma once
#include <string>

namespace dctx::monitor::gpu::cupti {

// Whether NVIDIA's driver seems to be there, by the files that it makes: nothing is loaded or
// initialised. True also when DCTX_CUPTI_LIB names a library.
bool driver_present();
// How many devices the driver lists; 0 when it does not tell.
int listed_devices();
// Why a result that tells of missing privileges came, and what to do.
std::string privileges_text();

}  // namespace dctx::monitor::gpu::cupti
