// As compare.cpp, for the sampling of instructions; 12.4 or newer.
#include <cupti.h>
#include <cupti_pcsampling.h>

#include "monitor/gpu/cupti/pc_abi.hpp"

namespace ours = dctx::monitor::gpu::cupti;

#define SAME_PLACE(Ours, field, Theirs, their_field)                           \
  static_assert(offsetof(ours::Ours, field) == offsetof(Theirs, their_field)); \
  static_assert(sizeof(ours::Ours::field) == sizeof(Theirs::their_field))
#define SAME_SIZE(Ours, Theirs) static_assert(sizeof(ours::Ours) == sizeof(Theirs))
#define SAME_VALUE(value, theirs) \
  static_assert(static_cast<long>(ours::value) == static_cast<long>(theirs))

SAME_VALUE(kReasonText, CUPTI_STALL_REASON_STRING_SIZE);
SAME_VALUE(kPcContinuous, CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS);
SAME_VALUE(kPcSerialized, CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED);
SAME_VALUE(kPcPeriod, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD);
SAME_VALUE(kPcReasons, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON);
SAME_VALUE(kPcScratchSize, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SCRATCH_BUFFER_SIZE);
SAME_VALUE(kPcHardwareSize, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE);
SAME_VALUE(kPcCollection, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE);
SAME_VALUE(kPcStartStop, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL);
SAME_VALUE(kPcDataBuffer, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER);
SAME_VALUE(kContextDestroyStarting, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);

SAME_SIZE(PcReasonCount, CUpti_PCSamplingStallReason);
SAME_PLACE(PcReasonCount, reason, CUpti_PCSamplingStallReason, pcSamplingStallReasonIndex);
SAME_PLACE(PcReasonCount, samples, CUpti_PCSamplingStallReason, samples);

SAME_SIZE(PcPlace, CUpti_PCSamplingPCData);
SAME_PLACE(PcPlace, cubin_crc, CUpti_PCSamplingPCData, cubinCrc);
SAME_PLACE(PcPlace, offset, CUpti_PCSamplingPCData, pcOffset);
SAME_PLACE(PcPlace, function_index, CUpti_PCSamplingPCData, functionIndex);
SAME_PLACE(PcPlace, function, CUpti_PCSamplingPCData, functionName);
SAME_PLACE(PcPlace, reason_count, CUpti_PCSamplingPCData, stallReasonCount);
SAME_PLACE(PcPlace, reasons, CUpti_PCSamplingPCData, stallReason);
SAME_PLACE(PcPlace, correlation, CUpti_PCSamplingPCData, correlationId);

SAME_SIZE(PcData, CUpti_PCSamplingData);
SAME_PLACE(PcData, room, CUpti_PCSamplingData, collectNumPcs);
SAME_PLACE(PcData, samples, CUpti_PCSamplingData, totalSamples);
SAME_PLACE(PcData, dropped, CUpti_PCSamplingData, droppedSamples);
SAME_PLACE(PcData, count, CUpti_PCSamplingData, totalNumPcs);
SAME_PLACE(PcData, remaining, CUpti_PCSamplingData, remainingNumPcs);
SAME_PLACE(PcData, range, CUpti_PCSamplingData, rangeId);
SAME_PLACE(PcData, places, CUpti_PCSamplingData, pPcData);
SAME_PLACE(PcData, other_samples, CUpti_PCSamplingData, nonUsrKernelsTotalSamples);
SAME_PLACE(PcData, hardware_full, CUpti_PCSamplingData, hardwareBufferFull);

SAME_SIZE(PcSetting, CUpti_PCSamplingConfigurationInfo);
SAME_PLACE(PcSetting, attribute, CUpti_PCSamplingConfigurationInfo, attributeType);
SAME_PLACE(PcSetting, status, CUpti_PCSamplingConfigurationInfo, attributeStatus);
SAME_PLACE(PcSetting, words, CUpti_PCSamplingConfigurationInfo, attributeData);

static_assert(sizeof(ours::PcCall) == CUpti_PCSamplingEnableParamsSize);
static_assert(sizeof(ours::PcSettingsCall) == CUpti_PCSamplingConfigurationInfoParamsSize);
static_assert(sizeof(ours::PcDataCall) == CUpti_PCSamplingGetDataParamsSize);
static_assert(sizeof(ours::PcReasonCountCall) == CUpti_PCSamplingGetNumStallReasonsParamsSize);
static_assert(sizeof(ours::PcReasonsCall) == CUpti_PCSamplingGetStallReasonsParamsSize);
static_assert(sizeof(ours::CubinCrcCall) == CUpti_GetCubinCrcParamsSize);
SAME_PLACE(PcSettingsCall, settings, CUpti_PCSamplingConfigurationInfoParams,
           pPCSamplingConfigurationInfo);
SAME_PLACE(PcReasonsCall, numbers, CUpti_PCSamplingGetStallReasonsParams, stallReasonIndex);
SAME_PLACE(PcReasonsCall, texts, CUpti_PCSamplingGetStallReasonsParams, stallReasons);
SAME_PLACE(CubinCrcCall, bytes, CUpti_GetCubinCrcParams, cubinSize);
SAME_PLACE(CubinCrcCall, cubin, CUpti_GetCubinCrcParams, cubin);
SAME_PLACE(CubinCrcCall, crc, CUpti_GetCubinCrcParams, cubinCrc);
