#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace dctx {

// A function of a library.
struct ElfSymbol {
  uint64_t start = 0;  // from the address that the file's own addresses count from
  std::string name;    // demangled; empty: no symbol covers the address
};

// The build id of a file, in hexadecimal; empty when it has none, or is no ELF file of this
// machine's width and byte order.
std::string elf_build_id(const std::string& path);

// The functions around addresses of a library, one result for each. Reads .symtab, or .dynsym where
// the file is stripped; of several symbols the one that covers an address most closely, and of
// equals the first. `build_id`: of the library that was loaded; another file is not read, nor one
// without an id when one is asked for. False when the file cannot be used.
bool elf_symbols(const std::string& path, const std::string& build_id,
                 const std::vector<uint64_t>& addresses, std::vector<ElfSymbol>* out);

// Where the system keeps the symbols of stripped libraries; empty without a build id.
std::string debug_file(const std::string& build_id);

// As elf_symbols(), from the library itself, else from the file with its symbols. What the first
// does not know is asked of the second.
bool symbols_of_module(const std::string& path, const std::string& build_id,
                       const std::vector<uint64_t>& addresses, std::vector<ElfSymbol>* out);

// A C++ name as it is written in the program; other names as they are.
std::string demangled(const std::string& name);

}  // namespace dctx
