#include "run/job/plan_id.hpp"

#include "base/build_info.hpp"
#include "base/sha256.hpp"

namespace cudamatrix::job {
namespace {

constexpr std::size_t kPlanIdDigits = 16;

}  // namespace

std::vector<std::string> cell_arguments(const Image& image, std::string_view cell_id,
                                        const CellDevice& device, bool gpu, const RunSettings& settings) {
    auto arguments = suite_arguments(image, cell_id, device, gpu);
    for (auto& argument : image_arguments(image))
        arguments.push_back(std::move(argument));
    for (auto& argument : level_arguments(settings.level, settings.soak_minutes))
        arguments.push_back(std::move(argument));
    return arguments;
}

RemoteTest remote_test(const RunInput& input, const Plan& plan, const RunSettings& settings,
                       const CellResult& cell, bool gpu) {
    const auto index = plan.image_of.find(cell.id)->second;
    const auto device = cell_device(input.facts, plan.judged.find(cell.cell)->second->cell);
    RemoteTest test;
    test.arguments = cell_arguments(plan.images[index], cell.id, device, gpu, settings);
    Sha256 hash;
    hash.update(kVersion).update("\n").update(plan.rendering.images[index].proof_inputs).update("\n");
    hash.update(settings.level).update("\n");
    for (const auto& argument : test.arguments)
        hash.update(argument).update("\n");
    test.plan_id = hash.hex().substr(0, kPlanIdDigits);
    test.arguments.insert(test.arguments.end(), {"--run", test.plan_id});
    return test;
}

}  // namespace cudamatrix::job
