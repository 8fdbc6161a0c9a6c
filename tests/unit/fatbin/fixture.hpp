#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "fatbin/mapped_file.hpp"

/// Writes fat binaries and ELF files byte by byte, in the layout that nvcc writes.
namespace fixture {

class Blob {
  public:
    Blob() = default;
    explicit Blob(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}

    template <typename T>
    Blob& number(T value) {
        bytes_.resize(bytes_.size() + sizeof(T));
        return put(bytes_.size() - sizeof(T), value);
    }
    Blob& append(const Blob& other) {
        bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
        return *this;
    }
    Blob& text(const std::string& text) {
        bytes_.insert(bytes_.end(), text.begin(), text.end());
        return *this;
    }
    Blob& zeros(std::size_t n) {
        bytes_.resize(bytes_.size() + n);
        return *this;
    }
    Blob& pad(std::size_t alignment) { return zeros((alignment - size() % alignment) % alignment); }
    template <typename T>
    Blob& put(std::size_t at, T value) {
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            bytes_.at(at + i) = static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i));
        }
        return *this;
    }
    [[nodiscard]] std::size_t size() const { return bytes_.size(); }
    [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }
    [[nodiscard]] cudamatrix::fatbin::Bytes view() const { return {bytes_.data(), bytes_.size()}; }

  private:
    std::vector<std::uint8_t> bytes_;
};

inline std::string string_of(const Blob& blob) {
    return {blob.bytes().begin(), blob.bytes().end()};
}

struct Section {
    std::string name;
    std::uint32_t type = 1;
    Blob bytes;
    std::uint32_t link = 0;
    std::uint64_t flags = 0;
};

struct ElfOptions {
    std::uint16_t machine = 62;
    std::uint8_t os_abi = 0;
    std::uint8_t abi_version = 0;
    std::uint32_t flags = 0;
};

/// ELF header, the sections' bytes, the names, the section table. Section 0 is the empty one, the last the
/// names.
inline Blob elf(std::vector<Section> sections, ElfOptions options = {}) {
    Blob names;
    names.zeros(1);
    sections.insert(sections.begin(), Section{"", 0, {}, 0});
    sections.push_back(Section{".shstrtab", 3, {}, 0});
    std::vector<std::size_t> name_at;
    for (const Section& section : sections) {
        name_at.push_back(section.name.empty() ? 0 : names.size());
        if (!section.name.empty()) names.text(section.name).zeros(1);
    }
    sections.back().bytes = names;

    Blob file;
    file.text(
            "\x7f"
            "ELF")
        .number<std::uint8_t>(2)
        .number<std::uint8_t>(1)
        .number<std::uint8_t>(1);
    file.number(options.os_abi).number(options.abi_version).zeros(7);
    file.number<std::uint16_t>(2).number(options.machine).number<std::uint32_t>(1);
    file.zeros(16).number<std::uint64_t>(0).number(options.flags);
    file.number<std::uint16_t>(64).number<std::uint32_t>(0).number<std::uint16_t>(64);
    file.number(static_cast<std::uint16_t>(sections.size()));
    file.number(static_cast<std::uint16_t>(sections.size() - 1));
    std::vector<std::size_t> offsets;
    for (const Section& section : sections) {
        file.pad(8);
        offsets.push_back(file.size());
        file.append(section.bytes);
    }
    file.pad(8);
    file.put<std::uint64_t>(40, file.size());
    for (std::size_t i = 0; i < sections.size(); ++i) {
        file.number(static_cast<std::uint32_t>(name_at[i])).number(sections[i].type);
        file.number(sections[i].flags).zeros(8);
        file.number<std::uint64_t>(offsets[i]).number<std::uint64_t>(sections[i].bytes.size());
        file.number(sections[i].link).zeros(20);
    }
    return file;
}

/// A cubin that defines functions of these names, each with a section of instructions.
inline Blob cubin(const std::vector<std::string>& functions, ElfOptions options = {190, 0x33, 7, 75}) {
    Blob strings;
    strings.zeros(1);
    Blob symbols;
    symbols.zeros(24);
    for (const std::string& name : functions) {
        symbols.number(static_cast<std::uint32_t>(strings.size())).number<std::uint8_t>(0x12).zeros(1);
        symbols.number<std::uint16_t>(1).zeros(16);
        strings.text(name).zeros(1);
    }
    std::vector<Section> sections{{".strtab", 3, strings, 0}, {".symtab", 2, symbols, 1}};
    for (const std::string& name : functions)
        sections.push_back({".text." + name, 1, Blob().text("instructions"), 0, 6});
    return elf(std::move(sections), options);
}

struct EntryOptions {
    std::uint16_t kind = 2;
    std::uint32_t arch = 75;
    std::uint64_t flags = 0x11;
    std::uint16_t major = 1;
    std::uint16_t minor = 8;
    std::uint32_t compressed_size = 0;
    std::uint32_t header_size = 64;
};

inline Blob entry(const EntryOptions& options, Blob payload) {
    payload.pad(8);
    Blob blob;
    blob.number(options.kind).number<std::uint16_t>(0x0101).number(options.header_size);
    blob.number<std::uint64_t>(payload.size()).number(options.compressed_size).number<std::uint32_t>(0);
    blob.number(options.minor).number(options.major).number(options.arch);
    blob.number<std::uint32_t>(0).number<std::uint32_t>(0).number(options.flags);
    blob.number<std::uint64_t>(0).number<std::uint64_t>(0);
    blob.zeros(options.header_size - blob.size());
    return blob.append(payload);
}

inline Blob sass(std::uint32_t arch, const std::vector<std::string>& functions, std::uint64_t flags = 0x11) {
    return entry({.arch = arch, .flags = flags}, cubin(functions));
}

inline Blob ptx(std::uint32_t arch, std::uint16_t isa_major, std::uint16_t isa_minor,
                std::uint64_t flags = 0x8011) {
    return entry({1, arch, flags, isa_major, isa_minor, 5, 80}, Blob().text("zzzzz"));
}

inline Blob container(const std::vector<Blob>& entries) {
    Blob body;
    for (const Blob& e : entries)
        body.append(e);
    Blob blob;
    blob.number<std::uint32_t>(0xBA55ED50).number<std::uint16_t>(1).number<std::uint16_t>(16);
    blob.number<std::uint64_t>(body.size());
    return blob.append(body);
}

/// A static library; a name of more than 15 characters goes into GNU's table of long names.
inline Blob archive(const std::vector<std::pair<std::string, Blob>>& members) {
    const auto header = [](std::string name, std::size_t size) {
        name.resize(48, ' ');
        std::string digits = std::to_string(size);
        digits.resize(10, ' ');
        return Blob().text(name + digits + "`\n");
    };
    Blob names;
    for (const auto& [name, bytes] : members) {
        if (name.size() > 15) names.text(name + "/\n");
    }
    Blob blob;
    blob.text("!<arch>\n").append(header("/", 4)).zeros(4);
    if (names.size() != 0) blob.append(header("//", names.size())).append(names).pad(2);
    std::size_t at = 0;
    for (const auto& [name, bytes] : members) {
        blob.append(header(name.size() > 15 ? "/" + std::to_string(at) : name + "/", bytes.size()));
        if (name.size() > 15) at += name.size() + 2;
        blob.append(bytes).pad(2);
    }
    return blob;
}

/// An executable as nvcc links it: a container of its own with empty cubins, then the program's.
inline Blob program(const std::vector<Blob>& entries, const std::string& section = ".nv_fatbin") {
    Blob bytes = container({sass(75, {})});
    bytes.append(container(entries));
    return elf({{".text", 1, Blob().text("code"), 0}, {section, 1, bytes, 0}});
}

/// Calls `read` with the first `length` bytes, for every length from `least` on: copies of their own size, so
/// that a sanitizer sees the first byte too many.
template <class Read>
void cut_at_every_byte(const Blob& whole, std::size_t least, Read read) {
    for (std::size_t length = least; length < whole.size(); ++length) {
        const auto begin = whole.bytes().begin();
        const std::vector<std::uint8_t> cut(begin, begin + static_cast<std::ptrdiff_t>(length));
        read(length, cudamatrix::fatbin::Bytes{cut.data(), cut.size()});
    }
}

/// Calls `read` with up to `most` bytes of `whole` changed at random, `rounds` times.
template <class Read>
void damage(const Blob& whole, unsigned seed, unsigned most, Read read, int rounds = 20000) {
    std::mt19937 random(seed);
    for (int round = 0; round < rounds; ++round) {
        std::vector<std::uint8_t> bytes = whole.bytes();
        const auto changes = 1 + static_cast<unsigned>(random()) % most;
        for (unsigned i = 0; i < changes; ++i)
            bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
        read(cudamatrix::fatbin::Bytes{bytes.data(), bytes.size()});
    }
}

}  // namespace fixture
