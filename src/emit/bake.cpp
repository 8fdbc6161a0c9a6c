// Files for `docker buildx bake`: a target for each image and for its proof, as our own builds make them.
#include <filesystem>
#include <set>

#include "base/json.hpp"
#include "base/text.hpp"
#include "emit/emitters.hpp"

namespace cudamatrix::emit {
namespace {

// Targets take no dots.
std::string target_of(const Image& image) {
    return text::replace_all(image.id, ".", "_");
}

// A path beside the matrix file is not one of this machine.
void add_secret(Json& secrets, std::string_view id, const std::string& path, const std::string& beside,
                const Matrix& matrix) {
    if (path.empty()) return;
    const auto folder = std::filesystem::path(matrix.path).parent_path();
    const auto source = beside.empty() ? path : (folder / beside).lexically_normal().generic_string();
    secrets.push_back(fmt::format("id={},src={}", id, source));
}

Json target(const Input& input, std::size_t index, bool proof) {
    const auto& image = input.images[index];
    const auto& rendered = input.rendered[index];
    const auto& build = input.matrix.build;
    Json json{{"context", input.runs + "/" + rendered.folder.generic_string()}};
    if (proof) json["dockerfile"] = kProofFile;
    json["tags"] = Json::array({proof ? rendered.proof_reference : rendered.reference});
    if (!input.matrix.emit.registry.empty()) json["tags"].push_back(cluster_reference(input, index, proof));
    json["labels"] = {{kInputsLabel, proof ? rendered.proof_inputs : rendered.inputs}};
    json["platforms"] = Json::array({image.platform()});
    if (build.network != "default") json["network"] = build.network;
    Json secrets = Json::array();
    add_secret(secrets, "ca", build.ca_bundle, build.ca_bundle_beside, input.matrix);
    add_secret(secrets, "netrc", build.netrc, build.netrc_beside, input.matrix);
    if (!secrets.empty()) json["secret"] = std::move(secrets);
    return json;
}

std::string document(const Json& groups, const Json& targets) {
    Json json = Json::object();
    if (!groups.empty()) json["group"] = groups;
    json["target"] = targets;
    return to_text(json) + "\n";
}

}  // namespace

Result<std::vector<Artifact>> bake(const Input& input) {
    Json targets = Json::object(), links = Json::object();
    Json images = Json::array(), proofs = Json::array();
    std::set<std::string> names;
    for (std::size_t i = 0; i < input.images.size(); ++i) {
        const auto name = target_of(input.images[i]);
        if (!names.insert(name).second) {
            return input_failure(fmt::format("two images would be the target {} of bake", name),
                                 "write one of their versions in another way");
        }
        const auto proof = name + std::string(kProofEnding);
        append_member(targets, name, target(input, i, false));
        append_member(targets, proof, target(input, i, true));
        append_member(links, proof, {{"contexts", {{input.rendered[i].reference, "target:" + name}}}});
        images.push_back(name);
        proofs.push_back(proof);
    }
    const Json groups{{"default", {{"targets", images}}}, {"proofs", {{"targets", proofs}}}};
    return std::vector<Artifact>{{"docker-bake.json", document(groups, targets), {}},
                                 {"docker-bake.linked.json", document(Json::object(), links), {}}};
}

}  // namespace cudamatrix::emit
