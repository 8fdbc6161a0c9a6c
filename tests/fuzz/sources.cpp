// libFuzzer: every reader of audit on the same text; each place lies in it.
#include <algorithm>
#include <cstdint>
#include <string>

#include "advise/sources/sources.hpp"

namespace sources = cudamatrix::sources;

namespace {

void check(const cudamatrix::Location& where, std::size_t lines) {
    if (where.line > lines) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    for (const auto kind : {sources::Kind::dockerfile, sources::Kind::compose, sources::Kind::requirements,
                            sources::Kind::conda_environment, sources::Kind::pyproject,
                            sources::Kind::uv_lock, sources::Kind::poetry_lock}) {
        const auto source = sources::read(kind, "file", text, {});
        for (const auto& stage : source.stages) {
            check(stage.where, lines);
            check(stage.base.where, lines);
            if (stage.on && *stage.on >= source.stages.size()) __builtin_trap();
            for (const auto& step : stage.steps) {
                if (const auto* install = std::get_if<sources::PipInstall>(&step)) {
                    for (const auto& requirement : install->requirements)
                        check(requirement.where, lines);
                }
            }
        }
        for (const auto& skipped : source.skipped)
            check(skipped.where, lines);
    }
    static_cast<void>(sources::kind_of("-", text));
    return 0;
}
