// Images: what registries say of them, and what the libraries in their layers hold.
#include <algorithm>
#include <map>
#include <utility>

#include "base/image_reference.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "look/measure/image_news.hpp"
#include "look/measure/inspection.hpp"
#include "look/measure/measure.hpp"
#include "look/scan/image.hpp"
#include "registry/oci.hpp"

namespace cudamatrix::measure {
namespace {

Result<std::vector<LibraryCode>> code_in_layers(const MeasureRequest& request, OciClient& client,
                                                const ImageReference& reference, const std::string& arch,
                                                Measured& measured, const Cancellation* cancellation) {
    scan::Options options{{true, {}}, cancellation};
    options.progress = [&](const std::string& line) {
        request.progress(fmt::format("measure: {}, {}", reference.name(), line));
    };
    CM_TRY_ASSIGN(const auto scan,
                  scan::scan_registry_image(client, reference, reference.text(), arch, options));
    for (const auto& library : scan.libraries) {
        if (!library.error.empty())
            measured.not_measured.push_back(fmt::format("{}: {}: {}", reference.name(),
                                                        text::printable(library.path),
                                                        text::printable(library.error)));
    }
    auto out = code_of(scan);
    for (auto& each : out)
        each.path = text::printable(each.path);
    return out;
}

// What is known of the same bytes stays; of others, whose tag it was, nothing does.
std::vector<std::string> layers_read_before(const MeasuredRow& row, const Facts& facts, bool& of_others) {
    const auto known = facts.row(row.id);
    const auto before = known ? known->list("layers") : facts::Values();
    of_others = !before.empty() && known->text("source") != row.cell("source")->values.front();
    return of_others ? std::vector<std::string>() : std::vector<std::string>(before.begin(), before.end());
}

// Reads the layers for the processors that are asked for; those that were read become a column of the row.
void read_layers(const MeasureRequest& request, Http& http, OciClient& client, ImageReference reference,
                 const SeenImage& image, const Facts& facts, MeasuredRow& row, Measured& measured) {
    bool of_others = false;
    auto read = layers_read_before(row, facts, of_others);
    reference.digest = image.digest;  // the tag may move meanwhile
    for (const auto& arch : request.layers) {
        if (is_interrupted(http) || std::ranges::find(image.arches, arch) == image.arches.end() ||
            std::ranges::find(read, arch) != read.end())
            continue;
        request.progress(fmt::format("measure: reading the layers of {} for {}", image.reference, arch));
        const auto code =
            code_in_layers(request, client, reference, arch, measured, http.options().cancellation);
        if (!code.ok()) {
            measured.not_measured.push_back(code.failure().diagnostics.front().message);
            continue;
        }
        for (auto& each : image_library_rows(image, arch, *code))
            measured.add(std::move(each), facts);
        read.push_back(arch);
    }
    if (!read.empty() || of_others) row.cells.insert(row.cells.end() - 2, list("layers", std::move(read)));
}

Result<SeenImage> seen(OciClient& client, const ImageReference& reference) {
    CM_TRY_ASSIGN(const auto manifest, client.manifest(reference));
    return see_all_of_image(client, reference, manifest);
}

}  // namespace

std::vector<MeasuredRow> image_library_rows(const SeenImage& image, const std::string& arch,
                                            const std::vector<LibraryCode>& libraries) {
    std::map<std::pair<std::vector<std::string>, std::vector<std::string>>, std::vector<std::string>> groups;
    for (const auto& library : libraries)
        groups[{library.sass, library.ptx}].push_back(library.path);
    std::vector<MeasuredRow> rows;
    for (auto& [code, paths] : groups) {
        rows.push_back(
            {"image_libraries",
             fmt::format("image-libraries-{}-{}-{}", image.reference, arch, rows.size() + 1),
             {scalar("image", image.reference), scalar("arch", arch), list("libraries", std::move(paths)),
              list("sass", code.first), list("ptx", code.second),
              scalar("source", fmt::format("image:{} {}", image.reference, image.digest)),
              scalar("confidence", "measured")}});
    }
    return rows;
}

Status measure_images(const MeasureRequest& request, const Facts& facts, Http& http, InspectionCache&,
                      Measured& measured) {
    std::vector<ImageReference> references;
    for (const auto& text : request.packages) {
        CM_TRY_ASSIGN(auto reference, parse_image_reference(text));
        if (!reference.digest.empty())
            return input_failure(
                fmt::format("invalid image '{}': a digest needs no row", text::printable(text)),
                "name it by its tag");
        if (reference.tag.empty()) reference.tag = "latest";
        references.push_back(std::move(reference));
    }
    if (!request.layers.empty()) give_large_blocks_back();
    OciClient client(http);
    for (const auto& reference : references) {
        if (is_interrupted(http)) break;
        request.progress("measure: " + reference.text());
        const auto image = seen(client, reference);
        auto row = image.ok() ? other_image_row(*image) : Result<MeasuredRow>(image.failure());
        if (!row.ok()) {
            measured.not_measured.push_back(row.failure().diagnostics.front().message);
            continue;
        }
        read_layers(request, http, client, reference, *image, facts, *row, measured);
        measured.add(*std::move(row), facts);
    }
    return Done{};
}

}  // namespace cudamatrix::measure
