// Images for tests of the lock.
#pragma once

#include <string>
#include <utility>

#include "render/image/image.hpp"

namespace cudamatrix::test {

[[nodiscard]] inline Image image_of(std::string id) {
    Image image;
    image.id = std::move(id);
    image.family = "debian";
    image.os = "debian12";
    image.suite = "bookworm";
    image.flavour = "base";
    image.arch = "x86_64";
    image.compiler = "g++-12";
    return image;
}

[[nodiscard]] inline Image torch_image() {
    auto image = image_of("debian12-torch2.6.0_cu124");
    image.torch = "2.6.0";
    image.torch_variant = "cu124";
    image.python = "3.11";
    image.python_from = "distribution";
    image.installer = "uv==0.13.8";
    return image;
}

}  // namespace cudamatrix::test
