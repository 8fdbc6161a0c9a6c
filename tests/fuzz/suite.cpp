// libFuzzer: any text as what a container of the suite prints. Whatever it says, problems never pass.
#include "properties.hpp"
#include "run/collect/suite_log.hpp"
#include "run/job/suite_output.hpp"

using namespace cudamatrix;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = fuzz::text_of(data, size);
    job::SuiteReader reader({"r1", "c1", {"env.vars"}});
    for (const auto& line : text::split(text, '\n'))
        reader.take(line);
    const auto planned = reader.planned();
    const auto output = std::move(reader).finish(0);
    fuzz::require(output.tests.size() <= planned || !output.problems.empty());
    for (const auto& problem : output.problems)
        fuzz::require(text::printable(problem) == problem);
    CellResult cell;
    job::conclude(output, true, cell);
    if (!output.problems.empty())
        fuzz::require(cell.outcome != CellOutcome::passed && cell.outcome != CellOutcome::passed_without_gpu);
    for (const auto& attempt : collect::read_suite_log(text).attempts)
        fuzz::require(!attempt.lines.empty());
    return 0;
}
