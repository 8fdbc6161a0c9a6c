#include "render/files/image_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "render/files/dockerfile_model.hpp"
#include "render/image/resolve_cell.hpp"

namespace cudamatrix {
namespace {

// Below that a thread costs more than it saves.
constexpr std::size_t kImagesOfAThread = 64;

Result<ImageFolder> image_folder(mustache::Library& library, const ImageInput& input) {
    const mustache::Data model(dockerfile_model(input));
    const auto family = template_folder(input.image);
    const auto folder = std::filesystem::path("images") / input.image.id;
    ImageFolder out;
    const auto put = [&](std::vector<Artifact>& files, const std::string& name, std::string content) {
        auto hash = sha256(content);
        files.push_back({folder / name, std::move(content), std::move(hash)});
    };
    CM_TRY_ASSIGN(auto dockerfile, fill_dockerfile(library, family + "/Dockerfile.mustache", model));
    put(out.image, "Dockerfile", std::move(dockerfile));
    CM_TRY_ASSIGN(auto proof, fill_dockerfile(library, family + "/proof.mustache", model));
    put(out.proof, std::string(kProofFile), std::move(proof));
    CM_TRY_ASSIGN(auto ignored, library.fill(family + "/dockerignore.mustache", model));
    put(out.image, ".dockerignore", std::move(ignored));
    CM_TRY_ASSIGN(auto packages, package_texts(library, input.image, input.pins));
    for (auto& [name, text] : packages) {
        const bool proofs = is_for_devel(name) && input.image.flavour != "devel";
        put(proofs ? out.proof : out.image, name, std::move(text));
    }
    for (auto& [name, wheels] : requirements_of(input)) {
        const mustache::Data only(mustache::Data::Object{{"tool", model.object()->at("tool")},
                                                         {"image", model.object()->at("image")},
                                                         {"wheels", wheels}});
        CM_TRY_ASSIGN(auto requirements, library.fill(family + "/requirements.mustache", only));
        const bool compiles_only = name == kCudaRequirements && input.image.compiles_beside();
        put(compiles_only ? out.proof : out.image, name, std::move(requirements));
    }
    for (auto* files : {&out.image, &out.proof})
        std::ranges::sort(*files, [](const Artifact& a, const Artifact& b) { return a.path < b.path; });
    return out;
}

}  // namespace

Result<std::map<std::string, std::string>> package_texts(mustache::Library& library, const Image& image,
                                                         const ImagePins* pins) {
    std::map<std::string, std::string> texts;
    for (auto& [name, packages] : package_files(image, pins)) {
        const mustache::Data model(mustache::Data::Object{{"packages", std::move(packages)}});
        CM_TRY_ASSIGN(texts[name], library.fill("packages.mustache", model));
    }
    return texts;
}

Result<std::vector<ImageFolder>> image_folders(const mustache::Library& library, const Matrix& matrix,
                                               const std::vector<Image>& images, const Lock& lock,
                                               const RenderSettings& settings) {
    std::vector<ImageFolder> out(images.size());
    const auto least = settings.watch != nullptr ? images.size() : kImagesOfAThread;
    CM_TRY(parallel_for(images.size(), least, [&](std::size_t begin, std::size_t end) -> Status {
        auto templates = library.copy();
        for (auto i = begin; i < end; ++i) {
            CM_TRY_ASSIGN(out[i], image_folder(templates, {matrix, images[i], lock, settings}));
        }
        return Done{};
    }));
    return out;
}

namespace {

// "# name = value" before the first instruction, behind a byte order mark and "#!" too; "// syntax = value"
// and {"syntax": "value"} choose another frontend as well: how BuildKit reads directives
// (github:moby/buildkit, frontend/dockerfile/parser/directives.go).
std::string directive_in(std::string_view dockerfile) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (dockerfile.starts_with(byte_order_mark)) dockerfile.remove_prefix(byte_order_mark.size());
    while (!dockerfile.empty()) {
        const auto newline = std::min(dockerfile.find('\n'), dockerfile.size());
        auto rest = text::trim(dockerfile.substr(0, newline));
        dockerfile.remove_prefix(std::min(newline + 1, dockerfile.size()));
        if (rest.empty()) continue;
        // No Dockerfile begins like this.
        if (rest.front() == '{') return "syntax";
        const std::size_t mark = rest.starts_with("//") ? 2 : 1;
        if (rest.front() != '#' && mark == 1) return {};
        rest = text::trim(rest.substr(mark));
        const auto end = rest.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (end == 0 || end == std::string_view::npos) continue;
        if (text::trim(rest.substr(end)).starts_with('=')) return std::string(rest.substr(0, end));
    }
    return {};
}

}  // namespace

Result<mustache::Library> load_templates(const RenderSettings& settings) {
    auto library = embedded_templates();
    library.set_watch(settings.watch);
    if (settings.templates.empty()) return library;
    const auto done = library.override_from(settings.templates);
    // A check has told these mistakes already, and goes on with what there is.
    if (!done.ok() && (settings.watch == nullptr || !settings.watch->check)) return done.failure();
    return library;
}

Result<std::string> fill_dockerfile(mustache::Library& library, const std::string& name,
                                    const mustache::Data& model) {
    CM_TRY_ASSIGN(auto filled, library.fill(name, model));
    if (const auto directive = directive_in(filled); !directive.empty()) {
        return input_failure(
            fmt::format("the template {} gives a Dockerfile that begins with the builder directive \"{}\"",
                        name, directive),
            "begin it with a comment that is not a directive");
    }
    return filled;
}

std::string pasted(const std::string& word) {
    const auto plain = [](char c) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        return letter || std::string_view("_./+:@%,=-").find(c) != std::string_view::npos;
    };
    if (!word.empty() && std::ranges::all_of(word, plain)) return word;
    return "'" + text::replace_all(word, "'", "'\\''") + "'";
}

Json image_contents(const Image& image) {
    Json json{{"family", image.family}, {"os", image.os}, {"arch", image.arch}, {"flavour", image.flavour}};
    const auto put = [&](const char* name, const std::string& value) {
        if (!value.empty()) json[name] = value;
    };
    put("cuda", image.cuda);
    put("cuda_from", image.cuda.empty() ? "" : image.cuda_from);
    put("suite_cuda", image.compiles_beside() ? image.suite_cuda : "");
    put("torch", image.torch.empty() ? "" : image.torch + "+" + image.torch_variant);
    put("python", image.python);
    put("compiler", image.compiler);
    return json;
}

namespace {

using List = mustache::Data::List;

// Where the matrix file names a file from its own folder, so do its images: another checkout is the same.
std::string from_image(const std::string& path, const std::string& beside, const ImageInput& input) {
    if (beside.empty()) return path;
    const auto found = std::filesystem::path("../..") / input.settings.matrix_folder / beside;
    return found.lexically_normal().generic_string();
}

// `what`: the options that tell the image from its proof.
std::string build_line(const ImageInput& input, const std::string& what) {
    const auto& build = input.matrix.build;
    std::string line = "DOCKER_BUILDKIT=1 docker build";
    if (build.network != "default") line += " --network=" + build.network;
    if (input.image.arch != "x86_64") line += " --platform=" + input.image.platform();
    if (!build.ca_bundle.empty())
        line +=
            " " + pasted("--secret=id=ca,src=" + from_image(build.ca_bundle, build.ca_bundle_beside, input));
    if (!build.netrc.empty())
        line += " " + pasted("--secret=id=netrc,src=" + from_image(build.netrc, build.netrc_beside, input));
    return line + " " + what + " .";
}

std::string tag_of(const ImageInput& input) {
    return fmt::format("{}:{}", image_repository(input.matrix), input.image.id);
}

}  // namespace

bool uses_cache_mounts(const Matrix& matrix) {
    return matrix.build.cache == "mounts";
}

std::string no_network_note(const Matrix& matrix) {
    if (matrix.build.network != "none") return {};
    return "Builds get no network here, so that none can install anything: `build: {network: default}` in "
           "the matrix file gives them one.";
}

namespace {

std::vector<std::string> unpinned_lines(const ImageInput& input) {
    if (input.pins != nullptr) return {};
    if (input.image.references().empty()) {
        return {
            "UNPINNED: cudamatrix.lock does not cover this image. What a build installs is whatever the "
            "archive and the",
            "index serve that day. `cudamatrix lock MATRIX` pins it."};
    }
    return {
        "UNPINNED: cudamatrix.lock does not cover this image. What a build stands on and installs is "
        "whatever the registry, the",
        "archive and the index serve that day. `cudamatrix lock MATRIX` pins it."};
}

}  // namespace

List dockerfile_header(const ImageInput& input) {
    const bool bootstrapped = input.image.references().empty();
    auto lines = unpinned_lines(input);
    lines.emplace_back(
        fmt::format("Image {} of matrix {}; index.json lists the cells (drivers, GPUs) that it serves.",
                    input.image.id, input.matrix.name));
    for (const auto& companion : input.image.companions)
        lines.emplace_back("Chosen by the facts: " + companion);
    for (const auto& constraint : input.image.constraints)
        lines.emplace_back("Kept to by the facts, for what was compiled against it: " + constraint);
    for (const auto& name : input.image.env_left_out)
        lines.emplace_back(
            fmt::format("Judged and not rendered: env {} (of NVIDIA's variables images carry no other than "
                        "NVIDIA_VISIBLE_DEVICES and NVIDIA_DRIVER_CAPABILITIES)",
                        name));
    const auto is_nccl = [](const std::string& one) { return one.find("nccl") != std::string::npos; };
    const auto& libraries = input.image.cuda_libraries;
    if (!libraries.empty() && std::ranges::none_of(libraries, is_nccl))
        lines.emplace_back(
            fmt::format("Without NCCL, which the archive of {} does not have", input.image.os));
    if (!input.image.sources.snapshot.empty())
        lines.emplace_back("Packages of the distribution as its archive was at " +
                           input.image.sources.snapshot);
    if (bootstrapped) {
        lines.emplace_back("By hand, in this folder: the base (needs mmdebstrap and root), then the image:");
        lines.emplace_back(fmt::format("  sh ../../{} {}", kMakeBaseFile, input.image.base_name()));
    } else {
        lines.emplace_back("By hand, in this folder:");
    }
    for (const auto& copy : input.image.copy) {
        const auto target = std::filesystem::path(kCopyFolder) / copy.from;
        lines.emplace_back(
            fmt::format("  mkdir -p {} && cp -a MATRIX_FOLDER/{} {}   (`cudamatrix build` does it)",
                        pasted(target.parent_path().string()), pasted(copy.from), pasted(target.string())));
    }
    lines.emplace_back("  " + build_line(input, "--tag " + tag_of(input)));
    if (const auto note = no_network_note(input.matrix); !note.empty()) lines.emplace_back(note);
    if (uses_cache_mounts(input.matrix))
        lines.emplace_back(
            "A builder without cache mounts takes what `build: {cache: none}` in the matrix renders.");
    return {lines.begin(), lines.end()};
}

List proof_header(const ImageInput& input) {
    auto lines = unpinned_lines(input);
    lines.emplace_back(
        "`cudamatrix test` runs it; nothing of it ships. By hand, in this folder, after the image:");
    lines.emplace_back("  cp -R ../../suite .");
    lines.emplace_back("  " + build_line(input, fmt::format("--file {} --tag {}{}", kProofFile, tag_of(input),
                                                            kProofEnding)));
    return {lines.begin(), lines.end()};
}

}  // namespace cudamatrix
