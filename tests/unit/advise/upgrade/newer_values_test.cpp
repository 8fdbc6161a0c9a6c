// What was newer on a day of the past: rows of those days do not change.
#include "advise/upgrade/newer_values.hpp"

#include <doctest/doctest.h>

#include "base/text.hpp"

using namespace cudamatrix;
using namespace cudamatrix::upgrade;

namespace {

// "on line; beyond"
std::string newer(Field field, std::string_view present, std::string_view day) {
    const auto found = newer_values(Facts::embedded(), field, present, day);
    return text::join(found.on_line, " ") + "; " + text::join(found.beyond, " ");
}

}  // namespace

TEST_CASE("newer values: torch, by release and build, as the value is written") {
    CHECK(newer(Field::torch, "2.4.0+cu124", "2024-11-04") ==
          "2.4.1+cu124; 2.5.1+cu124 2.5.1+cu121 2.5.1+cu118");
    CHECK(newer(Field::torch, "2.4.0+cu124", "2024-10-20") ==
          "2.4.1+cu124; 2.5.0+cu124 2.5.0+cu121 2.5.0+cu118");
    CHECK(newer(Field::torch, "2.3.1", "2024-11-04") == "; 2.5.1 2.4.1");
    CHECK(newer(Field::torch, "2.3", "2024-11-04") == "; 2.5 2.4");
    CHECK(newer(Field::torch, "2.4.1+cpu", "2024-11-04") == "; 2.5.1+cpu");
    CHECK(newer(Field::torch, "2.5.1+cu124", "2024-11-04") == "; ");
    CHECK(newer(Field::torch, "none", "2024-11-04") == "; ");
    CHECK(newer(Field::torch, "2.6.0.dev20241112+cu124", "2024-11-04") == "; ");
}

TEST_CASE("newer values: a toolkit's updates, and the newest of each later minor") {
    CHECK(newer(Field::cuda, "12.4.0", "2024-11-04") == "12.4.1; 12.6.2 12.5.1");
    CHECK(newer(Field::cuda, "12.4", "2024-11-04") == "; 12.6 12.5");
    CHECK(newer(Field::cuda, "12.6.2", "2024-11-04") == "; ");
    CHECK(newer(Field::cuda, "99.9", "2024-11-04") == "; ");
}

TEST_CASE("newer values: of a driver's branch only the first release is dated") {
    CHECK(newer(Field::driver, "550", "2024-11-04") == "; 565 560 555");
    CHECK(newer(Field::driver, "550.54.15", "2024-06-01").starts_with("; 555."));
    CHECK(newer(Field::driver, "565", "2024-11-04") == "; ");
    CHECK(newer(Field::driver, "999", "2024-11-04") == "; ");
}

TEST_CASE("newer values: python keeps its ABI, a system its distribution") {
    CHECK(newer(Field::python, "3.11", "2024-11-04") == "; 3.13 3.12");
    CHECK(newer(Field::python, "3.12t", "2024-11-04") == "; 3.13t");
    CHECK(newer(Field::python, "3.13", "2024-11-04") == "; ");
    CHECK(newer(Field::os, "ubuntu22.04", "2024-11-04") == "; ubuntu24.04");
    CHECK(newer(Field::os, "debian12", "2024-11-04") == "; ");
    CHECK(newer(Field::os, "debian12", "2025-08-10") == "; debian13");
    CHECK(newer(Field::os, "plan9", "2025-08-10") == "; ");
}

TEST_CASE("newer values: images of the same kind; none of one that is pinned by digest") {
    CHECK(newer(Field::image, "nvcr.io/nvidia/pytorch:24.08-py3", "2024-10-31") ==
          "; nvcr.io/nvidia/pytorch:24.10-py3 nvcr.io/nvidia/pytorch:24.09-py3");
    CHECK(newer(Field::image, "pytorch/pytorch:2.4.1-cuda12.1-cudnn9-runtime", "2024-11-04") ==
          "; pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime pytorch/pytorch:2.5.1-cuda12.1-cudnn9-runtime "
          "pytorch/pytorch:2.5.1-cuda11.8-cudnn9-runtime pytorch/pytorch:2.5.0-cuda12.4-cudnn9-runtime "
          "pytorch/pytorch:2.5.0-cuda12.1-cudnn9-runtime pytorch/pytorch:2.5.0-cuda11.8-cudnn9-runtime");
    CHECK(newer(Field::image, "nvidia/cuda:12.6.1-base-ubuntu22.04", "2024-11-04") ==
          "nvidia/cuda:12.6.2-base-ubuntu22.04; ");
    const std::string digest(64, 'a');
    CHECK(newer(Field::image, "nvidia/cuda:12.6.1-base-ubuntu22.04@sha256:" + digest, "2024-11-04") == "; ");
    CHECK(newer(Field::image, "example.org/own:1.0", "2024-11-04") == "; ");
    CHECK(newer(Field::gpu, "T4", "2024-11-04") == "; ");
}

TEST_CASE("a life ends after its last day or month") {
    const auto facts = Facts::embedded();
    CHECK(life_of(facts, Field::python, "3.9").ends == "2025-10-31");
    CHECK_FALSE(has_ended(life_of(facts, Field::python, "3.9"), "2025-10-31"));
    CHECK(has_ended(life_of(facts, Field::python, "3.9"), "2025-11-01"));
    CHECK_FALSE(has_ended({{}, "2025-04", {}}, "2025-04-30"));
    CHECK(has_ended({{}, "2025-04", {}}, "2025-05-01"));
    CHECK_FALSE(has_ended({}, "2025-05-01"));
    CHECK(life_of(facts, Field::gpu, "T4").released.empty());
}
