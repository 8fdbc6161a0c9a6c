#include "emit/emitters.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

#include "base/number.hpp"

namespace cudamatrix::emit {

std::span<const Emitter> all_emitters() {
    static constexpr std::array emitters{
        Emitter{"github", github, "commit it: GitHub runs what lies in .github/workflows", true, true},
        Emitter{"gitlab", gitlab, "commit it, and name the first file under include: of .gitlab-ci.yml"},
        Emitter{
            "buildkite", buildkite,
            "commit it, and let the pipeline's first step be `buildkite-agent pipeline upload` of the first "
            "file"},
        Emitter{"jenkins", jenkins, "commit it, and name it as the script path of a pipeline"},
        Emitter{
            "kubernetes", kubernetes,
            "push the images (`emit bake`, `docker buildx bake --push`), `kubectl apply --filename` it, keep "
            "`kubectl logs` of each pod in a file of a folder, and `cudamatrix collect MATRIX` that folder",
            false},
        Emitter{
            "slurm", slurm,
            "run `sbatch` with each file on a folder that the nodes share, then `cudamatrix collect MATRIX` "
            "the folder of the results"},
        Emitter{
            "bake", bake,
            "run `cudamatrix build MATRIX --prepare`, then `docker buildx bake --file DIR/docker-bake.json`; "
            "for the proofs, too, add `--file DIR/docker-bake.linked.json` and the targets `default proofs`",
            false},
    };
    return emitters;
}

const Emitter* emitter_named(std::string_view name) {
    const auto emitters = all_emitters();
    const auto found = std::ranges::find_if(emitters, [&](const Emitter& one) { return one.name == name; });
    return found == emitters.end() ? nullptr : &*found;
}

Result<std::vector<Artifact>> write_all(const Emitter& emitter, const Input& input) {
    CM_TRY(check_paths(input));
    CM_TRY_ASSIGN(auto files, emitter.write(input));
    if (emitter.has_tasks) std::ranges::move(tool_files(input), std::back_inserter(files));
    return files;
}

std::size_t limit_of(const Facts& facts, std::string_view system, std::string_view of) {
    for (const auto& row : facts.rows("ci_limits")) {
        if (row.text("system") != system || row.text("of") != of) continue;
        if (const auto most = text::whole_number<std::size_t>(row.text("most"))) return *most;
    }
    return std::numeric_limits<std::size_t>::max();
}

std::size_t bytes_of(const Facts& facts, std::string_view system) {
    const auto kilobytes = limit_of(facts, system, "kilobytes");
    const auto most = std::numeric_limits<std::size_t>::max();
    return kilobytes > most / 1000 ? most : kilobytes * 1000;
}

}  // namespace cudamatrix::emit
