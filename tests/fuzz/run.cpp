// libFuzzer: any text as the JSON of a run.
#include "report/run_document.hpp"

#include "properties.hpp"
#include "report/run_reports.hpp"

using namespace cudamatrix;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::round_trip(
        fuzz::text_of(data, size),
        [](std::string_view text) { return report::read_run_json(text, "run.json"); },
        [](const auto& run) { return report::run_json(run); });
    return 0;
}
