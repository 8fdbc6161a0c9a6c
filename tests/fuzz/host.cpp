// libFuzzer: any text as the report of a machine, and as what nvidia-smi prints.
#include "run/host/host_file.hpp"

#include "properties.hpp"
#include "run/host/nvidia_smi.hpp"

using namespace cudamatrix;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = fuzz::text_of(data, size);
    fuzz::round_trip(
        text, [](std::string_view json) { return probe::parse_host_report(json, "host.json"); },
        [](const auto& host) { return R"({"lines": [], "host": )" + to_text(probe::host_json(host)) + "}"; });
    for (const auto& gpu : probe::parse_gpus(text))
        fuzz::require(!gpu.name.empty());
    return 0;
}
