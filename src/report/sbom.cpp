#include "report/sbom.hpp"

#include <algorithm>
#include <tuple>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::string_view kNobodySays = "NOASSERTION";

// SPDX allows letters, digits, dots and dashes in an id.
std::string spdx_id(std::size_t number, const Component& component) {
    auto id = fmt::format("SPDXRef-{}-{}-{}", number, component.type, component.name);
    for (char& c : id) {
        const bool legal =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
        if (!legal) c = '-';
    }
    return id;
}

Json spdx_package(const std::string& id, const std::string& name, const std::string& version,
                  const std::string& url, const std::string& sha256, const std::string& purl) {
    Json package{{"SPDXID", id},
                 {"name", name},
                 {"downloadLocation", url.empty() ? std::string(kNobodySays) : url},
                 {"filesAnalyzed", false},
                 {"licenseConcluded", kNobodySays},
                 {"licenseDeclared", kNobodySays},
                 {"copyrightText", kNobodySays}};
    if (!version.empty()) package["versionInfo"] = version;
    if (!sha256.empty())
        package["checksums"] = Json::array({Json{{"algorithm", "SHA256"}, {"checksumValue", sha256}}});
    if (!purl.empty()) {
        package["externalRefs"] = Json::array({Json{{"referenceCategory", "PACKAGE-MANAGER"},
                                                    {"referenceType", "purl"},
                                                    {"referenceLocator", purl}}});
    }
    return package;
}

// Everything that the documents say but their own names: two that say the same are called the same.
std::string content_hash(const Sbom& sbom) {
    Sha256 hash;
    for (const auto* word : {&sbom.image, &sbom.digest, &sbom.created, &sbom.tool})
        hash.update(*word).update("\n");
    for (const auto& part : sbom.components)
        hash.update(fmt::format("{} {} {} {}\n", part.purl(sbom.distro), part.name, part.sha256, part.url));
    return hash.hex();
}

// A UUID of version 8 (RFC 9562, section 5.8).
std::string uuid_of(std::string hex) {
    hex[12] = '8';
    hex[16] = 'a';
    return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4),
                       hex.substr(16, 4), hex.substr(20, 12));
}

std::string_view cyclonedx_type(const Component& component) {
    if (component.type == "oci") return "container";
    return component.type == "file" ? "file" : "library";
}

}  // namespace

std::string Component::purl(std::string_view distro) const {
    if (type == "file") return {};
    auto out = fmt::format("pkg:{}/", type);
    if (!vendor.empty()) out += percent_encoded(vendor) + "/";
    out += percent_encoded(name);
    // An rpm's epoch is a qualifier, a deb's is part of the version.
    auto rest = version;
    std::vector<std::pair<std::string, std::string>> qualifiers;  // by name
    if (!arch.empty()) qualifiers.emplace_back("arch", arch);
    if ((type == "deb" || type == "rpm") && !distro.empty()) qualifiers.emplace_back("distro", distro);
    if (const auto colon = rest.find(':'); type == "rpm" && colon != std::string::npos) {
        if (rest.substr(0, colon) != "0") qualifiers.emplace_back("epoch", rest.substr(0, colon));
        rest.erase(0, colon + 1);
    }
    if (!repository.empty()) qualifiers.emplace_back("repository_url", repository);
    if (!rest.empty()) out += "@" + percent_encoded(rest);
    char mark = '?';
    for (const auto& [key, value] : qualifiers) {
        out += fmt::format("{}{}={}", mark, key, percent_encoded(value));
        mark = '&';
    }
    return out;
}

void put_in_order(Sbom& sbom) {
    const auto key = [](const Component& one) {
        return std::tie(one.type, one.name, one.version, one.arch, one.vendor);
    };
    std::ranges::stable_sort(sbom.components,
                             [&](const Component& a, const Component& b) { return key(a) < key(b); });
    const auto same = [&](const Component& a, const Component& b) { return key(a) == key(b); };
    sbom.components.erase(std::unique(sbom.components.begin(), sbom.components.end(), same),
                          sbom.components.end());
}

std::string spdx_json(const Sbom& sbom) {
    constexpr std::string_view root = "SPDXRef-image";
    auto relationships = Json::array();
    const auto relate = [&](std::string_view from, std::string_view how, std::string_view to) {
        relationships.push_back(
            Json{{"spdxElementId", from}, {"relationshipType", how}, {"relatedSpdxElement", to}});
    };
    relate("SPDXRef-DOCUMENT", "DESCRIBES", root);
    auto packages = Json::array();
    auto image = spdx_package(std::string(root), sbom.image, sbom.digest, {}, {}, {});
    image["primaryPackagePurpose"] = "CONTAINER";
    packages.push_back(std::move(image));
    std::size_t number = 0;
    for (const auto& part : sbom.components) {
        const auto id = spdx_id(++number, part);
        packages.push_back(
            spdx_package(id, part.name, part.version, part.url, part.sha256, part.purl(sbom.distro)));
        relate(root, part.type == "oci" ? "DESCENDANT_OF" : "CONTAINS", id);
    }
    return to_text(Json{{"spdxVersion", "SPDX-2.3"},
                        {"dataLicense", "CC0-1.0"},
                        {"SPDXID", "SPDXRef-DOCUMENT"},
                        {"name", sbom.image},
                        {"documentNamespace",
                         fmt::format("https://spdx.org/spdxdocs/cudamatrix-{}", uuid_of(content_hash(sbom)))},
                        {"creationInfo",
                         Json{{"created", sbom.created}, {"creators", {"Tool: cudamatrix-" + sbom.tool}}}},
                        {"packages", std::move(packages)},
                        {"relationships", std::move(relationships)}}) +
           "\n";
}

std::string cyclonedx_json(const Sbom& sbom) {
    const Json image{
        {"type", "container"}, {"bom-ref", "image"}, {"name", sbom.image}, {"version", sbom.digest}};
    auto components = Json::array();
    std::size_t number = 0;
    for (const auto& part : sbom.components) {
        Json one{{"type", cyclonedx_type(part)},
                 {"bom-ref", fmt::format("{}-{}", ++number, part.name)},
                 {"name", part.name}};
        if (!part.version.empty()) one["version"] = part.version;
        if (!part.sha256.empty())
            one["hashes"] = Json::array({Json{{"alg", "SHA-256"}, {"content", part.sha256}}});
        if (const auto purl = part.purl(sbom.distro); !purl.empty()) one["purl"] = purl;
        if (!part.url.empty())
            one["externalReferences"] = Json::array({Json{{"type", "distribution"}, {"url", part.url}}});
        components.push_back(std::move(one));
    }
    const Json tool{{"type", "application"}, {"name", "cudamatrix"}, {"version", sbom.tool}};
    return to_text(Json{{"bomFormat", "CycloneDX"},
                        {"specVersion", "1.6"},
                        {"serialNumber", "urn:uuid:" + uuid_of(content_hash(sbom))},
                        {"version", 1},
                        {"metadata", Json{{"timestamp", sbom.created},
                                          {"tools", Json{{"components", Json::array({tool})}}},
                                          {"component", image}}},
                        {"components", std::move(components)}}) +
           "\n";
}

std::string sbom_text(const SbomReport& report) {
    if (report.images.empty())
        return "no image: no chosen cell is accepted and can be rendered; cudamatrix check says why\n";
    std::string out;
    for (const auto& image : report.images) {
        if (!image.files.empty())
            out += fmt::format("{}: {} in {}\n", image.id, text::count(image.components, "component"),
                               text::join(image.files, ", "));
        for (const auto& problem : image.problems)
            out += fmt::format("{}: {}\n", image.id, text::printable(problem));
    }
    return out;
}

std::string sbom_report_json(const SbomReport& report) {
    JsonDocument document(report.tool);
    document.array("images", report.images, [](const SbomReport::Image& image) {
        return Json{{"id", image.id},
                    {"files", image.files},
                    {"components", image.components},
                    {"problems", image.problems}};
    });
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
