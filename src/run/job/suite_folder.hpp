// The suite as a folder of programs, compiled by this machine's own g++ and an nvcc of it, no image around
// them.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "base/result.hpp"
#include "render/templates/template.hpp"

namespace cudamatrix::job {

struct SuiteFolder {
    std::filesystem::path out;         ///< gets bin/, interpreted/, python/ and static.jsonl
    std::filesystem::path source;      ///< gets what they are compiled from
    std::filesystem::path log;         ///< gets what the compilers say
    std::string nvcc;                  ///< path
    std::string cxx = "g++";           ///< of the host programs; nvcc takes the one that it finds
    std::vector<std::string> compute;  ///< SASS targets: "7.5"
    std::string ptx;                   ///< also embedded as PTX
    Environment environment;
    std::chrono::milliseconds limit{std::chrono::minutes(60)};
    const Cancellation* cancellation = nullptr;
};

/// The embedded suite, or the one in `folder` where it is not empty.
[[nodiscard]] Result<std::vector<SuiteFile>> suite_of(const std::filesystem::path& folder);

/// Compiles `suite`. A kernel that does not compile is recorded in static.jsonl and no failure; a compiler
/// that cannot be run, or host programs that it refuses, are findings with its words.
[[nodiscard]] Status compile_suite(const SuiteFolder& folder, const std::vector<SuiteFile>& suite);

/// What static.jsonl says of a build.
struct CompiledSuite {
    bool whole = false;               ///< every program compiled
    std::string summary;              ///< "17 programs compiled by nvcc 13.0.88", or what is wrong
    std::vector<std::string> errors;  ///< a source that did not compile, and nvcc's line about it
};

/// Makes `folder.out` as one that can be copied, with `suite` at its top, which runs the tests: all of it or
/// nothing. `source` and `log` of `folder` are chosen here. That it is there already is an input failure.
[[nodiscard]] Result<CompiledSuite> make_suite_folder(SuiteFolder folder,
                                                      const std::vector<SuiteFile>& suite);

}  // namespace cudamatrix::job
