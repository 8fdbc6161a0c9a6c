#pragma once

#include <string>

#include "kernels/registry.hpp"
#include "kernels/support/context.hpp"
#include "kernels/support/json.hpp"
#include "kernels/support/process.hpp"
#include "kernels/support/record.hpp"

/// From how a process ended and what it wrote to a result line. Pure, and distrustful: a test is believed
/// only when its record, its checks and its exit code agree.
namespace cudamatrix::suite {

/// One part of one test, as planned.
struct Planned {
    const Test* test = nullptr;
    std::string part;
    [[nodiscard]] bool on_gpu() const { return test->needs_gpu && part == "gpu"; }
    [[nodiscard]] bool interpreted() const { return part == "interpreted"; }
};

/// The members of the line that the test itself determines.
[[nodiscard]] json::Value judge_process(const Planned& planned, const Context& context,
                                        const ProcessResult& result);

/// The complete line: adds version, run, cell, times and exit to what judge_process or to_json gave, in the
/// order of the schema. `gpu` is null without one.
[[nodiscard]] json::Value result_line(const json::Value& judged, const Context& context,
                                      const json::Value& gpu, const ProcessResult* result);

[[nodiscard]] Status status_of(const json::Value& line);

}  // namespace cudamatrix::suite
