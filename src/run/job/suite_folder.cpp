#include "run/job/suite_folder.hpp"

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "run/job/build_output.hpp"

namespace cudamatrix::job {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostStatic = 4 << 20;

// Runs one tool of the build; its output goes to the log.
Status run_tool(const SuiteFolder& folder, std::vector<std::string> argv, const std::string& what) {
    Command command;
    command.argv = std::move(argv);
    command.environment = folder.environment;
    command.time_limit = folder.limit;
    CM_TRY_ASSIGN(const auto outcome, cudamatrix::run(command, folder.cancellation));
    const auto output = outcome.out + outcome.err;
    CM_TRY(file::make_directories(folder.log.parent_path()));
    CM_TRY(file::write(folder.log, output));
    if (outcome.how == Ended::cancelled) return Failure{ExitCode::interrupted, {}};
    if (outcome.success()) return Done{};
    return Failure{
        ExitCode::findings,
        {Diagnostic::error(fmt::format("{}: {}: {}", what, outcome.describe(), build_error(output)))}};
}

Result<CompiledSuite> read_compiled(const fs::path& path) {
    CM_TRY_ASSIGN(const auto text, file::read(path, kMostStatic));
    CM_TRY_ASSIGN(const auto json, parse_json(text, path.string()));
    CompiledSuite compiled;
    compiled.whole = string_or(json, "status") == "pass";
    compiled.summary = string_or(json, "summary");
    if (!json.contains("checks")) return compiled;
    for (const auto& check : json["checks"]) {
        if (check.contains("ok") && !check["ok"].get<bool>())
            compiled.errors.push_back(
                fmt::format("{}: {}", string_or(check, "name"), string_or(check, "note")));
    }
    return compiled;
}

}  // namespace

Result<std::vector<SuiteFile>> suite_of(const fs::path& folder) {
    if (folder.empty()) return embedded_suite();
    return suite_from(folder);
}

Status compile_suite(const SuiteFolder& folder, const std::vector<SuiteFile>& suite) {
    for (const auto& one : suite) {
        const auto path = folder.source / one.path;
        CM_TRY(file::make_directories(path.parent_path()));
        CM_TRY(file::write(path, one.content));
    }
    CM_TRY(file::make_directories(folder.out));
    const auto source = folder.source.string();
    const auto tool = (folder.source / "suite_build").string();
    CM_TRY(run_tool(folder,
                    {folder.cxx, "-std=c++17", "-I", source, "-o", tool,
                     (folder.source / "kernels/build/suite_build.cpp").string()},
                    "suite_build"));
    return run_tool(folder,
                    {tool, "--source", source, "--out", folder.out.string(), "--cxx", folder.cxx, "--compute",
                     text::join(folder.compute, ","), "--ptx", folder.ptx, "--nvcc", folder.nvcc},
                    "suite");
}

Result<CompiledSuite> make_suite_folder(SuiteFolder folder, const std::vector<SuiteFile>& suite) {
    const auto out = fs::absolute(folder.out).lexically_normal();
    std::error_code error;
    if (fs::exists(fs::symlink_status(out, error)))
        return input_failure(
            fmt::format("{} is there already: expected a new folder", text::printable(out.string())));
    const auto work = fs::path(out.string() + ".part");
    fs::remove_all(work, error);
    folder.out = work / "suite";
    folder.source = work / "src";
    folder.log = work / "build.log";
    auto made = [&]() -> Result<CompiledSuite> {
        CM_TRY(compile_suite(folder, suite));
        CM_TRY_ASSIGN(auto compiled, read_compiled(folder.out / "static.jsonl"));
        fs::create_symlink("bin/suite", folder.out / "suite", error);
        if (!error) fs::rename(folder.out, out, error);
        if (error)
            return environment_failure(fmt::format("{}: {}", text::printable(out.string()), error.message()));
        return compiled;
    }();
    fs::remove_all(work, error);
    return made;
}

}  // namespace cudamatrix::job
