#pragma once
#include <cstddef>
#include <cstdint>

#include "monitor/gpu/cupti/abi.hpp"

// CUPTI's sampling of instructions: its part of the binary interface, as abi.hpp has the rest.
namespace dctx::monitor::gpu::cupti {

constexpr size_t kReasonText = 128;             // bytes of a name of a stall reason
constexpr uint32_t kFirstWithCorrelation = 22;  // the interface of CUPTI 12.4

enum PcCollection : uint32_t { kPcContinuous = 1, kPcSerialized = 2 };

enum PcAttribute : uint32_t {
  kPcPeriod = 1,
  kPcReasons = 2,
  kPcScratchSize = 3,
  kPcHardwareSize = 4,
  kPcCollection = 5,
  kPcStartStop = 6,
  kPcDataBuffer = 8,
};

struct PcReasonCount {
  uint32_t reason;
  uint32_t samples;
};

struct PcPlace {
  size_t size;
  uint64_t cubin_crc;
  uint64_t offset;
  uint32_t function_index;
  uint32_t pad_;
  char* function;
  size_t reason_count;
  PcReasonCount* reasons;
  uint32_t correlation;  // since 12.4
  uint32_t pad2_;
};
constexpr size_t kPcPlaceWithoutCorrelation = 56;
static_assert(sizeof(PcPlace) == 64);
static_assert(offsetof(PcPlace, cubin_crc) == 8);
static_assert(offsetof(PcPlace, offset) == 16);
static_assert(offsetof(PcPlace, function_index) == 24);
static_assert(offsetof(PcPlace, function) == 32);
static_assert(offsetof(PcPlace, reason_count) == 40);
static_assert(offsetof(PcPlace, reasons) == 48);
static_assert(offsetof(PcPlace, correlation) == kPcPlaceWithoutCorrelation);

struct PcData {
  size_t size;
  size_t room;  // places that fit
  uint64_t samples;
  uint64_t dropped;
  size_t count;      // places that were filled
  size_t remaining;  // … and that did not fit
  uint64_t range;
  PcPlace* places;
  uint64_t other_samples;  // of kernels that are not the user's
  uint8_t hardware_full;
  uint8_t pad_[7];
};
static_assert(sizeof(PcData) == 80);
static_assert(offsetof(PcData, dropped) == 24);
static_assert(offsetof(PcData, remaining) == 40);
static_assert(offsetof(PcData, places) == 56);
static_assert(offsetof(PcData, hardware_full) == 72);

struct PcSetting {
  uint32_t attribute;
  Result status;
  union {
    uint64_t words[3];
    uint32_t number;
    size_t size;
    void* buffer;
    struct {
      size_t count;
      uint32_t* numbers;
    } reasons;
  };
};
static_assert(sizeof(PcSetting) == 32 && offsetof(PcSetting, words) == 8);

// What all calls take: the size tells how much of it counts.
struct PcCall {
  size_t size;
  void* private_;
  void* context;
};
struct PcSettingsCall {
  PcCall call;
  size_t count;
  PcSetting* settings;
};
struct PcDataCall {
  PcCall call;
  PcData* data;
};
struct PcReasonCountCall {
  PcCall call;
  size_t* count;
};
struct PcReasonsCall {
  PcCall call;
  size_t count;
  uint32_t* numbers;
  char** texts;
};
struct CubinCrcCall {
  size_t size;
  size_t bytes;
  const void* cubin;
  uint64_t crc;
};
static_assert(sizeof(PcCall) == 24 && sizeof(PcSettingsCall) == 40 && sizeof(PcDataCall) == 32 &&
              sizeof(PcReasonCountCall) == 32 && sizeof(PcReasonsCall) == 48 &&
              sizeof(CubinCrcCall) == 32);

struct PcFunctions {
  Result (*enable)(PcCall*) = nullptr;
  Result (*disable)(PcCall*) = nullptr;
  Result (*start)(PcCall*) = nullptr;
  Result (*stop)(PcCall*) = nullptr;
  Result (*configure)(PcSettingsCall*) = nullptr;
  Result (*read)(PcDataCall*) = nullptr;
  Result (*reason_count)(PcReasonCountCall*) = nullptr;
  Result (*reasons)(PcReasonsCall*) = nullptr;
  Result (*cubin_crc)(CubinCrcCall*) = nullptr;
  Result (*device_of)(void* context, uint32_t* device) = nullptr;
};

}  // namespace dctx::monitor::gpu::cupti
