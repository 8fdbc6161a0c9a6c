// The lists of pins of an image and their names in a lock file (private to src/render).
#pragma once

#include <string_view>
#include <vector>

#include "render/lock/lock_file.hpp"

namespace cudamatrix {

struct AptList {
    std::string_view name;
    std::vector<AptPin> ImagePins::*member;
};
inline constexpr AptList kAptLists[] = {{"devel", &ImagePins::devel},
                                        {"toolkit", &ImagePins::toolkit},
                                        {"python", &ImagePins::python},
                                        {"runtime", &ImagePins::runtime}};

struct WheelList {
    std::string_view name;
    std::vector<WheelPin> ImagePins::*member;
};
inline constexpr WheelList kWheelLists[] = {
    {"cuda", &ImagePins::cuda}, {"image", &ImagePins::wheels}, {"installer", &ImagePins::installer}};

}  // namespace cudamatrix
