#include "fatbin/reader.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include "fatbin/container.hpp"
#include "fatbin/object_files.hpp"

namespace cudamatrix::fatbin {
namespace {

/// The letter behind "-arch sm_NN" in the options that ptxas notes in a cubin (since 13.0).
Variant noted_variant(const ElfFile& elf, const Arch& arch) {
    const std::string wanted = "-arch sm_" + sm_number(arch);
    for (const ElfSection& section : elf.sections) {
        if (section.name != ".note.nv.tkinfo") continue;
        const std::string_view text(reinterpret_cast<const char*>(section.bytes.data), section.bytes.size);
        const auto at = text.find(wanted);
        if (at == std::string_view::npos || at + wanted.size() >= text.size()) continue;
        const char letter = text[at + wanted.size()];
        if (letter == 'a') return Variant::specific;
        if (letter == 'f') return Variant::family;
    }
    return Variant::base;
}

/// A bare cubin tells its architecture in the ELF flags, in one of two layouts.
void read_cubin(Bytes file, Bytes whole, const ElfFile& elf, Contents& contents) {
    Entry entry;
    entry.kind = Kind::sass;
    entry.raw_kind = kRawSass;
    entry.payload = file.size;
    entry.bytes = file;
    constexpr std::uint8_t kNewAbi = 0x41;  // since CUDA 13.0
    if (elf.os_abi == kNewAbi) {
        entry.arch = arch_from_number((elf.flags >> 8) & 0xff);
        entry.arch.variant = noted_variant(elf, entry.arch);
    } else {
        const bool specific = (elf.flags & 0x800) != 0;
        entry.arch = arch_from_number(elf.flags & 0xff, specific ? Variant::specific : Variant::base);
    }
    entry.container = contents.containers;
    contents.entries.push_back(entry);
    ++contents.containers;
    contents.places.push_back({static_cast<std::uint64_t>(file.data - whole.data), file.size});
}

/// An ELF file that lies somewhere in `whole`: the file itself, or a member of an archive.
void read_elf_contents(Bytes file, Bytes whole, Contents& contents) {
    const ElfFile elf = read_elf(file);
    if (!elf.error.empty()) {
        contents.error = elf.error;
        return;
    }
    if (elf.machine == kElfMachineCuda) {
        read_cubin(file, whole, elf, contents);
        return;
    }
    for (const ElfSection& section : elf.sections) {
        if (section.name != ".nv_fatbin" && section.name != kRelocatableSection) continue;
        if (section.bytes.size != section.size) {
            contents.error = "section " + std::string(section.name) + " of " + std::to_string(section.size) +
                             " bytes at " + hex(section.offset) + " lies outside the file";
            return;
        }
        read_section(section.bytes, static_cast<std::uint64_t>(section.bytes.data - whole.data), section.name,
                     contents);
        if (!contents.error.empty()) return;
    }
}

bool begins_with_container(Bytes file) {
    return file.size >= 4 && file.number<std::uint32_t>(0) == kContainerMagic;
}

void read_archive(Bytes file, Contents& contents) {
    if (is_thin_archive(file)) {
        contents.error = "a thin archive: it names the files of its members and holds none of their bytes";
        return;
    }
    const std::string fault = for_each_member(file, [&](std::string_view name, Bytes bytes) {
        const std::size_t before = contents.containers;
        ++contents.members;
        if (begins_with_container(bytes)) {
            read_section(bytes, static_cast<std::uint64_t>(bytes.data - file.data), "", contents);
        } else if (looks_like_elf(bytes)) {
            read_elf_contents(bytes, file, contents);
        }
        if (contents.containers != before) ++contents.members_with_code;
        if (contents.error.empty()) return true;
        contents.error = "member " + std::string(name) + ": " + contents.error;
        return false;
    });
    if (contents.error.empty()) contents.error = fault;
}

}  // namespace

Contents read(Bytes file) {
    Contents contents;
    if (begins_with_container(file)) {
        read_section(file, 0, "", contents);
    } else if (looks_like_archive(file)) {
        read_archive(file, contents);
    } else if (looks_like_elf(file)) {
        read_elf_contents(file, file, contents);
    } else {
        contents.error = "neither an ELF file nor a fat binary";
    }
    return contents;
}

FileContents read_file(const std::string& path) {
    FileContents result{MappedFile::open(path), {}};
    result.contents.error = result.file.error();
    if (result.contents.error.empty()) result.contents = read(result.file.bytes());
    return result;
}

std::vector<std::string_view> functions(const Entry& entry) {
    if (entry.kind != Kind::sass || entry.compressed) return {};
    return defined_functions(read_elf(entry.bytes));
}

std::vector<Entry> entries_with_kernels(const Contents& contents, std::string_view prefix) {
    std::set<std::size_t> containers;
    for (const Entry& entry : contents.entries) {
        for (const std::string_view name : functions(entry)) {
            if (name.substr(0, prefix.size()) == prefix) containers.insert(entry.container);
        }
    }
    std::vector<Entry> kept;
    std::copy_if(contents.entries.begin(), contents.entries.end(), std::back_inserter(kept),
                 [&](const Entry& entry) { return containers.count(entry.container) != 0; });
    return kept;
}

std::vector<bool> containers_with_code(const Contents& contents) {
    std::vector<bool> has_sass(contents.containers), has_code(contents.containers);
    for (const Entry& entry : contents.entries) {
        if (entry.kind != Kind::sass || entry.container >= contents.containers) continue;
        has_sass[entry.container] = true;
        if (has_code[entry.container]) continue;
        has_code[entry.container] = entry.compressed || has_instructions(entry.bytes);
    }
    for (std::size_t i = 0; i < has_code.size(); ++i)
        has_code[i] = has_code[i] || !has_sass[i];
    return has_code;
}

std::vector<Entry> entries_with_code(const Contents& contents) {
    const std::vector<bool> has_code = containers_with_code(contents);
    std::vector<Entry> kept;
    std::copy_if(
        contents.entries.begin(), contents.entries.end(), std::back_inserter(kept),
        [&](const Entry& entry) { return entry.container < has_code.size() && has_code[entry.container]; });
    return kept;
}

std::vector<std::string> summary(const std::vector<Entry>& entries) {
    std::set<std::tuple<int, Arch, int, int, std::uint16_t>> keys;
    for (const Entry& e : entries) {
        keys.emplace(static_cast<int>(e.kind), e.arch, e.isa.major, e.isa.minor, e.raw_kind);
    }
    std::vector<std::string> lines;
    for (const auto& [kind, arch, isa_major, isa_minor, raw] : keys) {
        if (kind == static_cast<int>(Kind::sass)) {
            lines.push_back("sass " + to_text(arch));
        } else if (kind == static_cast<int>(Kind::ptx)) {
            lines.push_back("ptx " + to_text(arch) + "@" + to_text(PtxIsa{isa_major, isa_minor}));
        } else if (kind == static_cast<int>(Kind::lto)) {
            lines.push_back("lto " + to_text(arch));
        } else {
            lines.push_back("other " + hex(raw) + " " + to_text(arch));
        }
    }
    return lines;
}

}  // namespace cudamatrix::fatbin
