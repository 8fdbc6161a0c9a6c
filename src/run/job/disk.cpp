#include "run/job/folder.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/file.hpp"
#include "base/text.hpp"

namespace cudamatrix::job {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t operator""_MB(unsigned long long n) {
    return n * 1'000'000;
}

// Rounded up from builds measured on docker 20.10, overlay2, November 2026.
constexpr auto kBase = 400_MB;   // a distribution: its tar in the context, and as a layer
constexpr auto kSuite = 300_MB;  // host compiler and the compiled suite
constexpr auto kArchive =
    2500_MB;  // the needed parts of the archive's toolkit: downloads and what they unpack to
constexpr auto kArchiveFull = 5500_MB;  // the whole toolkit, as the devel flavour ships it
constexpr auto kWheels = 3000_MB;       // a toolkit from wheels
// The math libraries and NCCL, by their sizes of that month: 2.1 GB of the archive and what is
// downloaded; 2.4 GB of wheels where they are fetched, in what compiles and in the image, and in a cache
// mount.
constexpr auto kLibrariesArchive = 3000_MB;
constexpr auto kLibrariesWheels = 9000_MB;
constexpr auto kTorch = 11000_MB;  // torch and its CUDA libraries, unpacked in a cache mount and in the image
constexpr auto kTorchBase = 9000_MB;  // a base with them: what is pulled, and what it unpacks to
constexpr auto kTorchCpu = 1500_MB;   // torch without CUDA
constexpr auto kReserve = 1000_MB;
constexpr auto kTar = 250_MB;

// What an image stands on, once however many stand on it. How large a registry's base really is, only the
// registry knows: this goes by what is in it.
void add_bases(const Image& image, std::map<std::string, std::uint64_t>& bases) {
    if (image.references().empty()) bases[image.base_name()] = kBase;
    for (const auto& reference : image.references()) {
        const bool devel = reference == image.devel_reference || image.flavour == "devel";
        auto size = kBase;
        if (image.cuda_from == "base") size += devel ? kArchiveFull : kArchive;
        if (image.torch_from_base) size += kTorchBase;
        if (reference == image.installer_reference) size = kBase;
        auto& known = bases[reference];
        known = std::max(known, size);
    }
}

// The file system that holds a folder, or its nearest parent that exists.
dev_t device_of(const fs::path& folder) {
    std::error_code error;
    auto probe = fs::absolute(folder, error);
    struct stat status {};
    while (::stat(probe.c_str(), &status) != 0 && probe.has_parent_path() && probe != probe.parent_path()) {
        probe = probe.parent_path();
    }
    return status.st_dev;
}

}  // namespace

std::uint64_t engine_bytes_needed(const std::vector<const Image*>& images) {
    if (images.empty()) return 0;
    std::map<std::string, std::uint64_t> bases;
    std::uint64_t bytes = kReserve;
    for (const auto* image : images) {
        bytes += kSuite;
        add_bases(*image, bases);
        if (!image->suite_cuda.empty() && image->cuda_from != "base")
            bytes += image->cuda_from == "wheels"                             ? kWheels
                     : image->flavour == "devel" && !image->compiles_beside() ? kArchiveFull
                                                                              : kArchive;
        if (!image->cuda_libraries.empty())
            bytes += image->cuda_from == "wheels" ? kLibrariesWheels : kLibrariesArchive;
        if (!image->torch.empty() && !image->torch_from_base)
            bytes += image->torch_variant == "cpu" ? kTorchCpu : kTorch;
    }
    for (const auto& [name, size] : bases)
        bytes += size;
    return bytes;
}

std::uint64_t output_bytes_needed(const std::vector<const Image*>& images) {
    std::set<std::string> bases;
    for (const auto* image : images) {
        if (image->references().empty()) bases.insert(image->base_name());
    }
    return bases.size() * kTar;
}

Status check_disk(const std::vector<DiskDemand>& demands) {
    std::map<dev_t, DiskDemand> by_device;
    for (const auto& demand : demands) {
        auto& sum = by_device[device_of(demand.folder)];
        if (sum.folder.empty()) sum.folder = demand.folder;
        sum.bytes += demand.bytes;
    }
    for (const auto& [device, demand] : by_device) {
        if (demand.bytes == 0) continue;
        CM_TRY_ASSIGN(const auto free, file::free_bytes(demand.folder));
        if (free < demand.bytes) {
            return environment_failure(
                fmt::format("not enough disk space at {}: {} needed, {} free",
                            text::printable(demand.folder.string()), text::human_bytes(demand.bytes),
                            text::human_bytes(free)),
                "free some (docker builder prune, docker image prune), or build fewer images at a time");
        }
    }
    return Done{};
}

}  // namespace cudamatrix::job
