#pragma once
// Checks for the C++ tests: a failed one prints where, and the program exits with 1.
#include <cstdio>
#include <exception>
#include <sstream>
#include <string>
#include <type_traits>

namespace dctx_test {

inline int failures = 0;

template <class T>
std::string show(const T& value) {
  std::ostringstream out;
  if constexpr (std::is_arithmetic_v<T>) {
    out << +value;
  } else if constexpr (std::is_convertible_v<T, std::string>) {
    out << '"' << std::string(value) << '"';
  } else {
    out << '[';
    for (const auto& item : value) out << ' ' << show(item);
    out << " ]";
  }
  return out.str();
}

inline void fail(const char* file, int line, const std::string& what) {
  std::fprintf(stderr, "%s:%d: %s\n", file, line, what.c_str());
  ++failures;
}

template <class A, class B>
void check_equal(const char* file, int line, const char* expression, const A& actual,
                 const B& expected) {
  if (actual == expected) return;
  fail(file, line,
       std::string(expression) + " is " + show(actual) + ", expected " + show(expected));
}

inline int report() {
  if (failures > 0) std::fprintf(stderr, "%d checks failed\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace dctx_test

#define CHECK(condition) \
  ((condition) ? void() : dctx_test::fail(__FILE__, __LINE__, "not true: " #condition))
#define CHECK_EQUAL(actual, expected) \
  dctx_test::check_equal(__FILE__, __LINE__, #actual, actual, expected)
#define CHECK_THROWS(expression, Exception)                                              \
  do {                                                                                   \
    bool thrown = false;                                                                 \
    try {                                                                                \
      static_cast<void>(expression);                                                     \
    } catch (const Exception&) {                                                         \
      thrown = true;                                                                     \
    }                                                                                    \
    if (!thrown) dctx_test::fail(__FILE__, __LINE__, "no " #Exception ": " #expression); \
  } while (false)
