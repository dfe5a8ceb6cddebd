// Samples of instructions by CUPTI, on a stand-in. Also run under ThreadSanitizer.
#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "fake_cupti.h"
#include "monitor/engine/context.hpp"
#include "monitor/engine/events.hpp"
#include "monitor/gpu/cupti/cupti.hpp"
#include "monitor/gpu/cupti/pc_abi.hpp"
#include "monitor/gpu/cupti/pc_context.hpp"
#include "monitor/gpu/cupti/privileges.hpp"
#include "monitor/gpu/devices.hpp"
#include "monitor/gpu/gpu_host.hpp"

using namespace dctx::monitor;
using namespace dctx::monitor::gpu;

namespace {

GpuHost& gpu() { return GpuHost::instance(); }

class Recording {
 public:
  explicit Recording(PcMode mode) {
    Registry& registry = Registry::instance();
    registry.stop();
    registry.clear();
    gpu().clear();
    registry.start({});
    PcConfig samples;
    samples.mode = mode;
    samples.period_exponent = 12;
    samples.launch_every = 3;
    Reason reason;
    CHECK(Devices::instance().open(cupti_provider(), {}, reason, samples) == Status::ok);
  }
  ~Recording() {
    Devices::instance().close();
    fake_reset();
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
};

std::vector<SampleRow> rows() {
  std::vector<uint64_t> seen;
  const std::lock_guard<std::mutex> lock(gpu().samples().mutex());
  return gpu().samples().changed(seen);
}

std::string text(uint32_t id) { return std::string(Registry::instance().strings().text(id)); }

uint64_t samples_in(uint64_t context) {
  uint64_t sum = 0;
  for (const SampleRow& row : rows()) sum += row.key.context == context ? row.samples : 0;
  return sum;
}

void wait_for(uint64_t samples) {
  for (int i = 0; i < 6000; ++i) {
    uint64_t found = 0;
    for (const SampleRow& row : rows()) found += row.samples;
    if (found >= samples) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

bool noted(const std::string& part) {
  for (const std::string& note : gpu().take_notes()) {
    if (note.find(part) != std::string::npos) return true;
  }
  return false;
}

void names_are_those_of_the_reasons() {
  const std::string prefix = "smsp__pcsamp_warps_issue_stalled_";
  const cupti::StallReason wait = cupti::stall_reason(prefix + "wait_not_issued");
  CHECK(wait.counted && wait.not_issued);
  CHECK_EQUAL(wait.name, "wait");
  CHECK(!cupti::stall_reason(prefix + "selected").not_issued);
  CHECK(!cupti::stall_reason("smsp__pcsamp_samples_data_dropped").counted);
}

void rights_are_looked_at_first() {
  const std::string restricted = "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n";
  CHECK(cupti::may_sample("", "CapEff:\t0000000000000000\n"));
  CHECK(cupti::may_sample("RmProfilingAdminOnly: 0\n", "CapEff:\t0000000000000000\n"));
  CHECK(!cupti::may_sample(restricted, "Name:\tpython\nCapEff:\t0000000000000000\n"));
  CHECK(cupti::may_sample(restricted, "CapEff:\t0000000000200000\n"));  // CAP_SYS_ADMIN
  CHECK(cupti::may_sample(restricted, "CapEff:\t0000004000000000\n"));  // CAP_PERFMON
}

void continuous_samples_are_of_the_kernel() {
  const Recording recording(PcMode::continuous);
  CHECK_EQUAL(fake_kind_enabled(3), 1);
  CHECK_EQUAL(fake_kind_enabled(10), 0);
  fake_make_context();
  CHECK_EQUAL(fake_sample_setting(cupti::kPcPeriod), 12U);
  CHECK_EQUAL(fake_sample_setting(cupti::kPcHardwareSize), 64U << 20);
  CHECK_EQUAL(fake_sample_setting(cupti::kPcCollection), 1U);
  const std::string cubin(1000, 'x');
  const uint64_t crc = fake_crc(cubin.data(), cubin.size());
  fake_load_module(cubin.data(), cubin.size());
  fake_load_module(cubin.data(), cubin.size());
  std::string kept;
  CHECK(gpu().cubins().find(crc, kept));
  CHECK(kept == cubin);
  CHECK_EQUAL(gpu().cubins().count(), 1U);
  fake_plan_sample("_Z4gemmPf", crc, 0x30, "long_scoreboard", 50);
  fake_plan_sample("_Z4gemmPf", crc, 0x30, "long_scoreboard_not_issued", 20);
  fake_plan_sample("_Z4gemmPf", crc, 0x40, "selected", 7);
  fake_plan_sample("_Z4gemmPf", crc, 0x40, "brand_new", 3);
  fake_set_sample_room(1);  // reads take several rounds
  for (int i = 0; i < 4; ++i) fake_launch("_Z4gemmPf", 1000, 0, FAKE_NESTED);
  wait_for(240);  // the reader's thread comes by itself
  std::map<std::string, std::pair<uint64_t, uint64_t>> found;
  for (const SampleRow& row : rows()) {
    CHECK_EQUAL(row.key.context, kNoContext);
    CHECK_EQUAL(row.key.cubin_crc, crc);
    CHECK_EQUAL(text(row.key.function), "_Z4gemmPf");
    CHECK_EQUAL(text(row.key.kernel), "gemm(float*)");
    found[std::to_string(row.key.offset) + text(row.key.reason)] = {row.samples, row.not_issued};
  }
  CHECK_EQUAL(found.size(), 3U);
  CHECK((found["48long_scoreboard"] == std::pair<uint64_t, uint64_t>{200, 80}));
  CHECK((found["64selected"] == std::pair<uint64_t, uint64_t>{28, 0}));
  CHECK((found["64brand_new"] == std::pair<uint64_t, uint64_t>{12, 0}));
}

void modules_and_contexts_are_read_before_they_go() {
  const Recording recording(PcMode::serialized);
  fake_plan_sample("k", 1, 0, "wait", 5);
  fake_make_context();
  fake_drop_samples(11);
  fake_unload_module();
  CHECK_EQUAL(Registry::instance().losses().get(Loss::instructions_dropped), 11U);
  CHECK(noted("--pc-period"));
  fake_destroy_context();
  CHECK_EQUAL(fake_calls("cuptiPCSamplingDisable"), 1U);
}

void serialized_samples_are_of_their_launch() {
  const Recording recording(PcMode::serialized);
  CHECK_EQUAL(fake_sample_setting(cupti::kPcCollection), 0U);  // no context yet
  fake_plan_sample("k", 1, 16, "wait", 5);
  ThreadRecord& record = *Registry::instance().current();
  begin_operator(record, "a", operator_name(record, "a"), -1);
  fake_launch("k", 10, 0, FAKE_NESTED | FAKE_OTHER_ID | FAKE_DRIVER_ID);
  end_event(record, "a");
  begin_operator(record, "b", operator_name(record, "b"), -1);
  fake_launch("k", 10, 0, FAKE_NESTED);
  fake_launch("k", 10, 0, FAKE_DRIVER_ONLY);
  end_event(record, "b");
  std::map<std::string, uint64_t> found;
  for (const SampleRow& row : rows()) {
    const PackedContext context{row.key.context};
    CHECK(context.known());
    const uint32_t op = record.store.parent(static_cast<uint32_t>(context.node()));
    found[text(static_cast<uint32_t>(record.store.view(op).label))] += row.samples;
  }
  CHECK_EQUAL(found["a"], 5U);
  CHECK_EQUAL(found["b"], 10U);
}

void one_launch_in_three_is_sampled() {
  const Recording recording(PcMode::per_launch);
  fake_plan_sample("k", 1, 16, "wait", 5);
  fake_plan_sample("other", 1, 16, "wait", 1);
  for (int i = 0; i < 7; ++i) fake_launch("k", 10, 0, FAKE_NESTED);
  fake_launch("other", 10, 0, FAKE_NESTED);
  CHECK_EQUAL(fake_sample_setting(cupti::kPcStartStop), 1U);
  CHECK_EQUAL(fake_calls("cuptiPCSamplingStart"), 4U);
  CHECK_EQUAL(fake_calls("cuptiPCSamplingStop"), 4U);
  CHECK_EQUAL(samples_in(kNoContext), 0U);
  uint64_t all = 0;
  for (const SampleRow& row : rows()) all += row.samples;
  CHECK_EQUAL(all, 16U);
}

void a_refusal_is_told_once_and_the_work_recorded() {
  for (const int32_t result : {35, 40}) {
    const Recording recording(PcMode::serialized);
    fake_fail("cuptiPCSamplingEnable", result);
    fake_make_context();
    fake_launch("k", 10, 0, FAKE_NESTED);
    fake_launch("k", 10, 0, FAKE_NESTED);
    CHECK_EQUAL(fake_calls("cuptiPCSamplingEnable"), 1U);
    CHECK(noted("NVreg_RestrictProfilingToAdminUsers=0"));
    Devices::instance().flush(true);
    CHECK_EQUAL(gpu().counts().records, 2U);
    CHECK_EQUAL(rows().size(), 0U);
  }
}

void an_old_library_has_no_serialized_samples() {
  fake_set_version(21);
  const Recording recording(PcMode::serialized);
  CHECK(noted("needs CUPTI 12.4 or newer, this is 12.3"));
  CHECK_EQUAL(fake_kind_enabled(10), 1);
  fake_launch("k", 10, 0, FAKE_NESTED);
  CHECK_EQUAL(fake_calls("cuptiPCSamplingEnable"), 0U);
}

void samples_of_an_old_library_have_shorter_records() {
  fake_set_version(21);
  const Recording recording(PcMode::continuous);
  for (uint64_t offset = 0; offset < 160; offset += 16) {
    fake_plan_sample("k", 1, offset, "selected", 1);
  }
  fake_make_context();
  fake_launch("k", 10, 0, FAKE_NESTED);
  fake_unload_module();
  CHECK_EQUAL(rows().size(), 10U);
  CHECK_EQUAL(samples_in(kNoContext), 10U);
}

}  // namespace

int main() {
  setenv("DCTX_CUPTI_LIB", FAKE_CUPTI, 1);
  names_are_those_of_the_reasons();
  rights_are_looked_at_first();
  continuous_samples_are_of_the_kernel();
  modules_and_contexts_are_read_before_they_go();
  serialized_samples_are_of_their_launch();
  one_launch_in_three_is_sampled();
  a_refusal_is_told_once_and_the_work_recorded();
  an_old_library_has_no_serialized_samples();
  samples_of_an_old_library_have_shorter_records();
  return dctx_test::report();
}
