#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace dctx::monitor {

constexpr uint16_t kFormatMajor = 1;  // a reader refuses a newer one
constexpr uint16_t kFormatMinor = 1;  // chunks or columns were added

// Kinds of chunks: four letters as they stand in the file.
constexpr uint32_t chunk_type(const char (&name)[5]) {
  return static_cast<uint32_t>(static_cast<unsigned char>(name[0])) |
         static_cast<uint32_t>(static_cast<unsigned char>(name[1])) << 8 |
         static_cast<uint32_t>(static_cast<unsigned char>(name[2])) << 16 |
         static_cast<uint32_t>(static_cast<unsigned char>(name[3])) << 24;
}

constexpr uint32_t kMeta = chunk_type("META");
constexpr uint32_t kStrings = chunk_type("STR ");
constexpr uint32_t kCodes = chunk_type("CODE");
constexpr uint32_t kModules = chunk_type("MODU");
constexpr uint32_t kThreads = chunk_type("THRD");
constexpr uint32_t kNodes = chunk_type("NODE");
constexpr uint32_t kMetrics = chunk_type("MET ");
constexpr uint32_t kWork = chunk_type("GMET");
constexpr uint32_t kInstructions = chunk_type("PCS ");
constexpr uint32_t kCubins = chunk_type("CUBN");
constexpr uint32_t kSteps = chunk_type("STEP");
constexpr uint32_t kUsage = chunk_type("USED");
constexpr uint32_t kSamples = chunk_type("SAMP");
constexpr uint32_t kSymbols = chunk_type("SYMB");
constexpr uint32_t kLosses = chunk_type("LOSS");
constexpr uint32_t kArguments = chunk_type("ARGS");
constexpr uint32_t kCalls = chunk_type("CALL");
constexpr uint32_t kMemory = chunk_type("MEM ");
constexpr uint32_t kCommit = chunk_type("COMM");

// The first bytes of a recording.
std::string file_header(int64_t start_utc_ns, int64_t start_monotonic_ns);

// Appends a chunk; `sequence` is its number in the file.
void append_chunk(std::string& out, uint32_t type, uint32_t sequence, std::string_view content);

}  // namespace dctx::monitor
