#include "common/elf_symbols.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>

namespace dctx {
namespace {

// A file in memory. What it says about itself is checked before it is believed.
class ElfFile {
 public:
  explicit ElfFile(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    struct stat status{};
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
      size_ = static_cast<size_t>(status.st_size);
      void* const mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
      if (mapped != MAP_FAILED) data_ = static_cast<const char*>(mapped);
    }
    ::close(descriptor);
    read_sections();
  }
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;
  ~ElfFile() {
    if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
  }

  std::string build_id() const {
    constexpr char kDigits[] = "0123456789abcdef";
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != SHT_NOTE) continue;
      uint64_t at = section.sh_offset;
      const uint64_t end = section.sh_offset + section.sh_size;
      Elf64_Nhdr note{};
      while (at + sizeof note <= end) {
        std::memcpy(&note, data_ + at, sizeof note);
        const uint64_t name = at + sizeof note;
        const uint64_t content = name + (uint64_t{note.n_namesz} + 3) / 4 * 4;
        at = content + (uint64_t{note.n_descsz} + 3) / 4 * 4;
        if (at > end) break;
        if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
            std::memcmp(data_ + name, "GNU", 4) != 0) {
          continue;
        }
        std::string id;
        for (uint64_t i = 0; i < note.n_descsz; ++i) {
          const auto byte = static_cast<unsigned char>(data_[content + i]);
          id.push_back(kDigits[byte >> 4]);
          id.push_back(kDigits[byte & 15]);
        }
        return id;
      }
    }
    return "";
  }

  // Calls `take(symbol, name)` for each function of the best table of symbols. False without one.
  template <class Take>
  bool functions(Take&& take) const {
    const Elf64_Shdr* table = nullptr;
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type == SHT_SYMTAB) table = &section;
      if (section.sh_type == SHT_DYNSYM && table == nullptr) table = &section;
    }
    if (table == nullptr || table->sh_link >= sections_.size()) return false;
    const Elf64_Shdr& texts = sections_[table->sh_link];
    if (texts.sh_type != SHT_STRTAB || texts.sh_size == 0 ||
        data_[texts.sh_offset + texts.sh_size - 1] != '\0') {
      return false;
    }
    for (uint64_t i = 0; i < table->sh_size / sizeof(Elf64_Sym); ++i) {
      Elf64_Sym symbol{};
      std::memcpy(&symbol, data_ + table->sh_offset + i * sizeof symbol, sizeof symbol);
      const unsigned type = ELF64_ST_TYPE(symbol.st_info);
      if (type != STT_FUNC && type != STT_GNU_IFUNC) continue;
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= texts.sh_size) continue;
      take(symbol, data_ + texts.sh_offset + symbol.st_name);
    }
    return true;
  }

 private:
  void read_sections() {
    Elf64_Ehdr header{};
    if (data_ == nullptr || size_ < sizeof header) return;
    std::memcpy(&header, data_, sizeof header);
    constexpr unsigned kByteOrder =
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != kByteOrder ||
        header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > size_ ||
        header.e_shnum > (size_ - header.e_shoff) / sizeof(Elf64_Shdr)) {
      return;
    }
    for (size_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section{};
      std::memcpy(&section, data_ + header.e_shoff + i * sizeof section, sizeof section);
      const bool inside =
          section.sh_type == SHT_NOBITS ||
          (section.sh_offset <= size_ && section.sh_size <= size_ - section.sh_offset);
      if (!inside) section = {};
      sections_.push_back(section);
    }
  }

  const char* data_ = nullptr;
  size_t size_ = 0;
  std::vector<Elf64_Shdr> sections_;
};

}  // namespace

std::string demangled(const std::string& name) {
  if (name.compare(0, 2, "_Z") != 0) return name;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : name;
}

std::string elf_build_id(const std::string& path) { return ElfFile(path).build_id(); }

std::string debug_file(const std::string& build_id) {
  if (build_id.size() < 3) return "";
  return "/usr/lib/debug/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2) + ".debug";
}

bool elf_symbols(const std::string& path, const std::string& build_id,
                 const std::vector<uint64_t>& addresses, std::vector<ElfSymbol>* out) {
  const ElfFile file(path);
  if (!build_id.empty() && file.build_id() != build_id) return false;
  std::vector<size_t> order(addresses.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return addresses[a] < addresses[b]; });
  struct Best {
    uint64_t start = 0;
    uint64_t size = ~uint64_t{0};
    const char* name = nullptr;
  };
  std::vector<Best> best(addresses.size());
  // One pass over the symbols, however many: the few addresses are what is searched.
  const bool read = file.functions([&](const Elf64_Sym& symbol, const char* name) {
    auto at = std::lower_bound(order.begin(), order.end(), symbol.st_value,
                               [&](size_t i, uint64_t value) { return addresses[i] < value; });
    for (; at != order.end() && addresses[*at] - symbol.st_value < symbol.st_size; ++at) {
      if (symbol.st_size < best[*at].size) best[*at] = {symbol.st_value, symbol.st_size, name};
    }
  });
  if (!read) return false;
  out->assign(addresses.size(), {});
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (best[i].name != nullptr) (*out)[i] = {best[i].start, demangled(best[i].name)};
  }
  return true;
}

bool symbols_of_module(const std::string& path, const std::string& build_id,
                       const std::vector<uint64_t>& addresses, std::vector<ElfSymbol>* out) {
  const bool own = elf_symbols(path, build_id, addresses, out);
  std::vector<ElfSymbol> more;
  if (build_id.empty() || !elf_symbols(debug_file(build_id), build_id, addresses, &more)) {
    return own;
  }
  if (!own) {
    *out = std::move(more);
    return true;
  }
  for (size_t i = 0; i < more.size(); ++i) {
    if ((*out)[i].name.empty()) (*out)[i] = std::move(more[i]);
  }
  return true;
}

}  // namespace dctx
