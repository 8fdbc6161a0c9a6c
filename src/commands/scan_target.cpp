#include "commands/scan_target.hpp"

#include <filesystem>
#include <utility>

#include "base/image_reference.hpp"
#include "base/text.hpp"
#include "commands/image_options.hpp"
#include "commands/index_options.hpp"
#include "look/scan/image.hpp"
#include "look/scan/wheel.hpp"
#include "registry/oci.hpp"
#include "run/engine/engine.hpp"
#include "run/job/job.hpp"

namespace cudamatrix {
namespace {

constexpr std::string_view kRegistry = "registry:";

// Without the word in front a registry has to be named, and a tag or a digest: "a/b:c" may be a file as well.
bool names_a_registry(std::string_view target) {
    const auto slash = target.find('/');
    const auto host = target.substr(0, slash);
    const auto last = target.substr(target.rfind('/') + 1);
    return slash != std::string_view::npos && parse_image_reference(target).ok() &&
           last.find_first_of(":@") != std::string_view::npos &&
           (host == "localhost" || host.find_first_of(".:") != std::string_view::npos);
}

Result<scan::Scan> scan_in_registry(const std::string& target, const TargetOptions& options,
                                    const scan::Options& how, const World& world) {
    const auto name = std::string_view(target).substr(target.starts_with(kRegistry) ? kRegistry.size() : 0);
    CM_TRY_ASSIGN(const auto reference, parse_image_reference(name));
    CM_TRY_ASSIGN(auto http, open_http(options.mirrors, options.ca_bundle, world));
    OciClient client(*http);
    tell(fmt::format("scan: reading {} from its registry\n", reference.text()));
    return scan::scan_registry_image(client, reference, target, options.arch, how);
}

Result<scan::Scan> scan_on_index(const scan::Requirement& wanted, const std::string& target,
                                 const TargetOptions& options, const scan::Options& how, const World& world) {
    std::string index = options.index;
    if (index.empty()) {
        CM_TRY_ASSIGN(index, default_index(world.environment, world.cancellation));
    }
    CM_TRY_ASSIGN(auto http, open_http(options.mirrors, options.ca_bundle, world));
    HttpConnection connection(*http);
    tell(fmt::format("scan: reading {} from the index\n", text::printable(target)));
    return scan::scan_index_wheel(connection, index, wanted, {options.python, options.arch}, how);
}

std::string text_of(const JudgedCell& cell, Field field) {
    const auto* value = cell.cell.get(field);
    return value == nullptr ? std::string() : value->text;
}

// The cell's place in the plan.
Result<std::size_t> image_index(const job::Plan& plan, const std::string& matrix, const std::string& cell) {
    const auto found = plan.image_of.find(cell);
    if (found != plan.image_of.end()) return found->second;
    const auto judged = plan.judged.find(cell);
    if (judged != plan.judged.end()) {
        return input_failure(fmt::format("--cell {}: it is {} and gets no image", text::printable(cell),
                                         to_string(judged->second->verdict)),
                             fmt::format("cudamatrix explain {} {}", text::printable(matrix), cell));
    }
    std::vector<std::string> ids;
    for (const auto& [id, judgement] : plan.judged)
        ids.push_back(id);
    const auto near = text::did_you_mean(cell, ids);
    return input_failure(
        fmt::format("--cell {}: {} has no such cell{}", text::printable(cell), text::printable(matrix),
                    near ? fmt::format(" (did you mean {}?)", *near) : ""),
        fmt::format("an id of `cudamatrix list {}`", text::printable(matrix)));
}

}  // namespace

Result<scan::Scan> scan_target(const std::string& target, const TargetOptions& options,
                               const scan::Options& how, const World& world) {
    std::error_code error;
    if (std::filesystem::exists(target, error)) {
        if (scan::is_wheel_name(target)) return scan::scan_wheel_file(target, how);
        if (scan::may_be_image_tar(target)) return scan::scan_image_tar(target, options.arch, how);
        if (scan::is_image_folder(target)) return scan::scan_image_folder(target, options.arch, how);
        return scan::scan_local(target, how);
    }
    if (const auto stored = engine::parse_stored_image(target)) {
        CM_TRY_ASSIGN(auto save, engine::save_command(*stored, world.environment));
        tell(fmt::format("scan: reading {} out of the store of {}\n", text::printable(target),
                         stored->engine));
        return scan::scan_saved_image(std::move(save), target, options.arch, how);
    }
    if (target.starts_with(kRegistry) || names_a_registry(target))
        return scan_in_registry(target, options, how, world);
    if (const auto wanted = scan::parse_requirement(target))
        return scan_on_index(*wanted, target, options, how, world);
    return scan::scan_local(target, how);
}

Result<CellImage> cell_image(const std::string& matrix, const std::string& cell, const TargetOptions& options,
                             const World& world) {
    ImageOptions image_options;
    image_options.input.matrix = matrix;
    image_options.input.facts = options.facts;
    CM_TRY_ASSIGN(const auto loaded, load_for_images(image_options, world));
    CM_TRY_ASSIGN(const auto settings, run_settings(image_options, *loaded, world));
    CM_TRY_ASSIGN(const auto plan, job::make_plan(run_input(*loaded), settings, "scan"));
    CM_TRY_ASSIGN(const auto index, image_index(plan, matrix, cell));
    const auto& rendered = plan.rendering.images[index];
    CM_TRY_ASSIGN(auto engine, engine::choose({options.engine.name, options.engine.host, {}},
                                              world.environment, world.cancellation));
    if (!engine.containers())
        return input_failure("--cell: engine host has no images", "--engine docker, or --engine podman");
    CM_TRY_ASSIGN(const auto info, engine::inspect(engine, rendered.reference, world.cancellation));
    if (!info) {
        return environment_failure(
            fmt::format("the image of this cell, {}, is not built", rendered.reference),
            fmt::format("cudamatrix build {}", text::printable(matrix)));
    }
    const auto& judged = *plan.judged.find(cell)->second;
    const auto inputs = info->labels.find(std::string(kInputsLabel));
    return CellImage{fmt::format("{} ({})", cell, rendered.reference),
                     rendered.reference,
                     std::move(engine),
                     text_of(judged, Field::gpu),
                     text_of(judged, Field::compute),
                     text_of(judged, Field::driver),
                     inputs == info->labels.end() || inputs->second != rendered.inputs};
}

Result<scan::Scan> scan_cell(const CellImage& image, const TargetOptions& options, const scan::Options& how) {
    auto save = image.engine.command(image.engine.dialect->save(image.reference));
    save.output_limit = 64U << 10U;
    tell(fmt::format("scan: reading {} out of the store of {}\n", image.reference, image.engine.name()));
    auto found = scan::scan_saved_image(std::move(save), image.target, options.arch, how);
    if (found.ok() && image.stale) {
        found->notes.emplace_back(
            "built from other inputs than the matrix now asks for: `cudamatrix build` makes it anew");
    }
    return found;
}

}  // namespace cudamatrix
