#pragma once

#include <random>
#include <string>
#include <vector>

#include "look/scan/library.hpp"
#include "look/scan/local.hpp"
#include "look/scan/stream.hpp"
#include "unit/fatbin/fixture.hpp"

/// Libraries that are too large to be kept in memory, streams of them, and reports as one line each.
namespace fixture {

using cudamatrix::scan::Library;

inline constexpr std::size_t kBeyondSmall = (8U << 20) + 12345;

/// Machine code of a host program that holds no container.
inline Blob filler(std::size_t size, unsigned seed = 1) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(size);
    for (auto& byte : bytes)
        byte = static_cast<std::uint8_t>(random() | 1U);  // odd: the magic number begins with an even byte
    return Blob(std::move(bytes));
}

/// A library of more than 8 MiB: containers in the two sections, in between and elsewhere, compressed and
/// not.
inline std::vector<Section> large_sections() {
    Blob first = container({sass(75, {})});
    first.append(container({sass(75, {"k"}), sass(90, {"k"}, 0x100011), ptx(90, 8, 4)}));
    first.pad(8).append(container({sass(80, {"k"}, 0x8011)}));
    EntryOptions lto;
    lto.kind = 8;
    lto.arch = 90;
    const Blob second = container({entry(lto, Blob().text("ir")), sass(86, {"k"})});
    return {{".text", 1, filler(kBeyondSmall)},
            {".nv_fatbin", 1, first},
            {".rodata", 1, filler(100000, 2)},
            {"__nv_relfatbin", 1, second},
            {".ldata", 1, Blob().text("odd").append(container({sass(70, {"k"}), ptx(70, 6, 4)}))}};
}

inline std::string text_of(const Library& library) {
    std::string out = library.path + ": " + std::to_string(library.entries) + " entries, " +
                      std::to_string(library.bytes) + " bytes, " + std::to_string(library.containers) + "/" +
                      std::to_string(library.containers_without_kernels) + "/" +
                      std::to_string(library.hidden_containers) + " containers, " +
                      std::to_string(library.members) + "/" + std::to_string(library.members_with_code) +
                      " members;";
    for (const auto& section : library.sections)
        out += " " + section;
    for (const auto& target : library.targets) {
        out += "; " +
               cudamatrix::fatbin::to_text(cudamatrix::fatbin::Code{target.kind, target.arch, target.isa}) +
               " x" + std::to_string(target.entries) + " " + std::to_string(target.bytes);
        if (target.compressed != 0) out += " compressed " + std::to_string(target.compressed);
        if (!target.kernels) out += " (no kernels)";
    }
    for (const auto& [code, count] : library.offer.parts) {
        out += "; part x" + std::to_string(count);
        for (const auto& each : code)
            out += " " + cudamatrix::fatbin::to_text(each);
    }
    return out + (library.error.empty() ? "" : "; error: " + library.error);
}

inline std::string on_disk(const Blob& blob, bool deep) {
    return text_of(cudamatrix::scan::read_library("f", blob.view(), {deep, {}}));
}

/// The same bytes in pieces of `piece` bytes; `told` is the size that the archive gives.
inline std::string streamed(const Blob& blob, bool deep, std::size_t piece, std::uint64_t told) {
    cudamatrix::scan::StreamScanner scanner(told, {deep, {}});
    const auto& bytes = blob.bytes();
    for (std::size_t at = 0; at < bytes.size(); at += piece)
        scanner.feed({bytes.data() + at, std::min(piece, bytes.size() - at)});
    const auto library = scanner.finish("f");
    return library ? text_of(*library) : "nothing";
}

inline std::string streamed(const Blob& blob, bool deep, std::size_t piece = 65536) {
    return streamed(blob, deep, piece, blob.size());
}

/// What a scan failed with; empty: it did not.
inline std::string message(const cudamatrix::Result<cudamatrix::scan::Scan>& result) {
    return result.ok() ? "" : result.failure().diagnostics.at(0).message;
}

}  // namespace fixture
