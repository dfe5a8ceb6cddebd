// Libraries that are not all that CUPTI is today.
#include <cstdlib>
#include <string>

#include "check.hpp"
#include "monitor/gpu/cupti/cupti.hpp"
#include "monitor/gpu/cupti/library.hpp"
#include "monitor/gpu/devices.hpp"

using namespace dctx::monitor::gpu;

namespace {

void one_without_a_function_is_refused() {
  setenv("DCTX_CUPTI_LIB", FAKE_CUPTI_BROKEN, 1);
  cupti::Library library;
  Reason reason;
  CHECK(library.load("", reason) == Status::no_symbols);
  CHECK(std::string(reason.text).find("no function cuptiActivityFlushAll") != std::string::npos);
  CHECK(!library.loaded());
}

void one_that_is_not_there_is_told() {
  setenv("DCTX_CUPTI_LIB", "/nowhere/libcupti.so", 1);
  cupti::Library library;
  Reason reason;
  CHECK(library.load("", reason) == Status::no_library);
  CHECK(std::string(reason.text).find("DCTX_CUPTI_LIB cannot be loaded: /nowhere") == 0);
  unsetenv("DCTX_CUPTI_LIB");
}

void the_first_candidate_that_loads_is_taken() {
  unsetenv("DCTX_CUPTI_LIB");
  cupti::Library library;
  Reason reason;
  const std::string candidates = std::string("/nowhere/libcupti.so.12\n\n") + FAKE_CUPTI;
  CHECK(library.load(candidates.c_str(), reason) == Status::ok);
  CHECK_EQUAL(library.path(), FAKE_CUPTI);
  CHECK(library.has_several());
  CHECK_EQUAL(library.result_text(15), "CUPTI_ERROR_NOT_INITIALIZED (15)");
  CHECK_EQUAL(library.result_text(4), "result 4");
}

void one_of_11_8_is_subscribed_to_as_such() {
  setenv("DCTX_CUPTI_LIB", FAKE_CUPTI_OLD, 1);
  Reason reason;
  CHECK(Devices::instance().open(cupti_provider(), {}, reason) == Status::ok);
  Devices::instance().close();
  cupti::Library library;
  CHECK(library.load("", reason) == Status::ok);
  CHECK(!library.has_several());
  CHECK(library.functions().subscribe2 == nullptr);
}

}  // namespace

int main() {
  one_without_a_function_is_refused();
  one_that_is_not_there_is_told();
  the_first_candidate_that_loads_is_taken();
  one_of_11_8_is_subscribed_to_as_such();
  return dctx_test::report();
}
