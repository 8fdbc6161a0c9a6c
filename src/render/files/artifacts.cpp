#include "render/files/artifacts.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "base/build_info.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "render/files/image_folder.hpp"
#include "render/image/resolve_cell.hpp"
#include "render/output/output_folder.hpp"

namespace cudamatrix {
namespace {

std::string part_hash(const std::vector<SuiteFile>& suite, const Image& image) {
    std::vector<SuiteFile> part;
    for (const auto& file : suite) {
        if (is_in_context(file.path, image)) part.push_back(file);
    }
    return suite_hash(part);
}

// All bytes that a build of these files sees, by the hash of each. What it stands on counts by its hash, too;
// the name and the pins stand in the files.
std::string inputs_hash(std::string_view on, const std::vector<Artifact>& files) {
    Sha256 digest;
    digest.update(fmt::format("{}\n", on));
    for (const auto& file : files)
        digest.update(fmt::format("{} {}\n", file.sha256, file.path.filename().native()));
    return digest.hex();
}

// A base from a registry stands in the Dockerfile with its digest.
std::string base_name(const Image& image, const Lock& lock, bool pinned) {
    if (!image.references().empty()) return "registry";
    return pinned ? lock.base(image)->sha256 : "unpinned";
}

Json image_json(const Image& image, const RenderedImage& rendered) {
    Json json{{"id", image.id},
              {"folder", rendered.folder.generic_string()},
              {"reference", rendered.reference},
              {"inputs", rendered.inputs},
              {"proof_inputs", rendered.proof_inputs},
              {"pinned", rendered.pinned}};
    json.update(image_contents(image));
    const auto put = [&](const char* name, const std::string& value) {
        if (!value.empty()) json[name] = value;
    };
    if (!image.compute.empty()) json["compute"] = image.compute;
    put("ptx", image.ptx);
    put("base", image.base_reference);
    put("devel_base", image.devel_reference);
    put("entry", image.entry);
    json["cells"] = image.cells;
    return json;
}

struct Render {
    const Matrix& matrix;
    const RenderSettings& settings;
    std::string repository;
    Rendering out;
    Json images = Json::array();
    std::array<std::string, 2> suite_hashes = {};  // of the part that is built with and without nvcc

    void add_file(const std::filesystem::path& path, std::string content) {
        auto hash = sha256(content);  // each is hashed once
        out.artifacts.push_back({path, std::move(content), std::move(hash)});
    }

    void add_image(const Image& image, const Lock& lock, ImageFolder folder) {
        RenderedImage rendered;
        rendered.id = image.id;
        rendered.folder = std::filesystem::path("images") / image.id;
        rendered.reference = repository + ":" + image.id;
        rendered.proof_reference = rendered.reference + std::string(kProofEnding);
        rendered.pinned = lock.covers(image);
        auto& suite = suite_hashes[image.suite_cuda.empty()];
        if (suite.empty()) suite = part_hash(out.suite, image);
        rendered.inputs = inputs_hash("base " + base_name(image, lock, rendered.pinned), folder.image);
        rendered.proof_inputs =
            inputs_hash(fmt::format("image {}\nsuite {}", rendered.inputs, suite), folder.proof);
        images.push_back(image_json(image, rendered));
        out.images.push_back(std::move(rendered));
        for (auto* files : {&folder.image, &folder.proof})
            std::move(files->begin(), files->end(), std::back_inserter(out.artifacts));
    }

    // Once for all images: builds put it into their contexts.
    void add_suite() {
        if (out.images.empty()) return;
        for (const auto& [path, content] : out.suite)
            add_file(std::filesystem::path("suite") / path, content);
    }

    Status add_compose(mustache::Library& library, const std::vector<Image>& plan) {
        CM_TRY_ASSIGN(const auto model, compose_model({matrix, plan, out.images, settings.matrix_folder}));
        for (const char* name : {"compose.yaml", "compose.gpu.yaml", "compose.cdi.yaml"}) {
            CM_TRY_ASSIGN(auto content, library.fill(std::string(name) + ".mustache", model));
            add_file(name, std::move(content));
        }
        return Done{};
    }

    Status add_make_base(mustache::Library& library, const std::vector<Image>& plan) {
        if (out.bootstraps.empty()) return Done{};
        const auto model = make_base_model(matrix, out.bootstraps, plan, settings.matrix_folder);
        CM_TRY_ASSIGN(auto content, library.fill(std::string(kMakeBaseFile) + ".mustache", model));
        add_file(kMakeBaseFile, std::move(content));
        return Done{};
    }

    // Lists them in their order; it is not hashed itself.
    Artifact index_of_all() {
        Json files = Json::object();
        for (const auto& file : out.artifacts)
            append_member(files, file.path.generic_string(), file.sha256);
        const Json index{{"schema_version", 1},
                         {"tool", "cudamatrix"},
                         {"version", kVersion},
                         {"matrix", matrix.name},
                         {"facts", settings.facts_hash},
                         {"facts_date", settings.facts_date},
                         {"templates", out.templates_hash},
                         {"suite", suite_hash(out.suite)},
                         {"images", std::move(images)},
                         {"files", std::move(files)}};
        return {std::string(kIndexFile), to_text(index) + "\n"};
    }
};

bool by_path(const Artifact& a, const Artifact& b) {
    return a.path.native() < b.path.native();
}

}  // namespace

bool is_in_context(std::string_view suite_path, const Image& image) {
    return !image.suite_cuda.empty() || is_host_part(suite_path);
}

std::string image_repository(const Matrix& matrix) {
    std::string slug;
    for (const char c : text::lower(matrix.name)) {
        const bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (word) slug += c;
        // One separator between words: a repository's name has no other form.
        if (!word && !slug.empty() && slug.back() != '-') slug += '-';
    }
    while (slug.ends_with('-'))
        slug.pop_back();
    slug = slug.substr(0, 40);
    if (slug != matrix.name || slug.empty())
        slug += (slug.empty() || slug.ends_with('-') ? "m" : "-") + sha256(matrix.name).substr(0, 6);
    return "cudamatrix/" + slug;
}

Result<Rendering> render_artifacts(const Matrix& matrix, const std::vector<Image>& images, const Lock& lock,
                                   const RenderSettings& settings) {
    if (matrix.build.user == "root") {
        return input_failure("build: user root: images never run as root",
                             "name another user, or delete the key");
    }
    CM_TRY_ASSIGN(auto library, load_templates(settings));
    CM_TRY_ASSIGN(auto suite, settings.suite.empty() ? Result<std::vector<SuiteFile>>(embedded_suite())
                                                     : suite_from(settings.suite));

    Render render{matrix, settings, image_repository(matrix), {}};
    render.out.suite = std::move(suite);
    render.out.templates_hash = library.hash();
    CM_TRY_ASSIGN(auto folders, image_folders(library, matrix, images, lock, settings));
    std::map<std::string, Bootstrap> bootstraps;
    for (std::size_t i = 0; i < images.size(); ++i) {
        const auto& image = images[i];
        render.add_image(image, lock, std::move(folders[i]));
        if (image.references().empty()) bootstraps.emplace(image.base_name(), bootstrap_of(image, matrix));
    }
    for (auto& [name, bootstrap] : bootstraps)
        render.out.bootstraps.push_back(std::move(bootstrap));
    CM_TRY(render.add_make_base(library, images));
    CM_TRY(render.add_compose(library, images));
    render.add_suite();
    auto& artifacts = render.out.artifacts;
    std::ranges::sort(artifacts, by_path);
    auto index = render.index_of_all();
    artifacts.insert(std::upper_bound(artifacts.begin(), artifacts.end(), index, by_path), std::move(index));
    return std::move(render.out);
}

}  // namespace cudamatrix
