// libFuzzer: any text as what a container registry or a Python index answers.
#include "properties.hpp"
#include "registry/oci.hpp"
#include "registry/wheel_index.hpp"

using namespace cudamatrix;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = fuzz::text_of(data, size);
    if (const auto manifest = parse_manifest(text, "sha256:0", "image"); fuzz::is_read(manifest))
        static_cast<void>(fuzz::is_read(image_in_index(*manifest, "image", "amd64")));
    static_cast<void>(fuzz::is_read(parse_image_config(text, "image")));
    static_cast<void>(parse_challenges(text));
    for (const std::string_view type : {"text/html", "application/vnd.pypi.simple.v1+json"}) {
        const auto files = parse_project_page(text, type, "https://index.example.org/simple/torch/");
        if (!fuzz::is_read(files)) continue;
        for (const auto& file : *files) {
            fuzz::require(!file.name.empty() && !file.url.empty());
            static_cast<void>(parse_wheel_name(file.name));
            static_cast<void>(sdist_version(file.name, "torch"));
        }
    }
    return 0;
}
