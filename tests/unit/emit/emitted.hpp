// What each emitter writes for a matrix, every cell of it taken as good.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "emit/emitters.hpp"
#include "knowledge/facts/lookup.hpp"
#include "unit/render/planned.hpp"

namespace cudamatrix::test {

/// An Input with all that it refers to.
struct EmitInput {
    explicit EmitInput(Planned from) : made(std::move(from)) {
        for (const auto& image : made.plan.images) {
            RenderedImage one;
            one.id = image.id;
            one.folder = std::filesystem::path("images") / image.id;
            one.reference = image_repository(made.matrix) + ":" + image.id;
            one.proof_reference = one.reference + std::string(kProofEnding);
            one.inputs = sha256(image.id);
            one.proof_inputs = sha256(one.inputs);
            rendered.push_back(std::move(one));
        }
        for_each_cell(made.matrix, [&](const Cell& cell) {
            cells.push_back(cell);
            return true;
        });
    }

    [[nodiscard]] emit::Input input() const {
        emit::Input out{made.matrix, facts, made.plan.images, rendered, {}, {}, "cudamatrix-out/test",
                        "ci",        0};
        for (const auto& cell : cells) {
            const auto id = cell_id(made.matrix, cell);
            for (std::size_t i = 0; i < made.plan.images.size(); ++i) {
                const auto& of_image = made.plan.images[i].cells;
                if (std::find(of_image.begin(), of_image.end(), id) != of_image.end())
                    out.cells.push_back({id, &cell, i, test_of(id, cell)});
            }
        }
        return out;
    }

    [[nodiscard]] emit::ClusterTest test_of(const std::string& id, const Cell& cell) const {
        emit::ClusterTest test;
        test.arguments = {"run", "--cell", id, "--run", sha256(id).substr(0, 16)};
        test.gpu = true;
        if (const auto* gpu = cell.get(Field::gpu)) {
            if (const auto known = lookup::gpu(facts, gpu->text)) test.compute = known->text("compute");
        }
        if (const auto* driver = cell.get(Field::driver)) test.driver = driver->text;
        return test;
    }

    Planned made;
    Facts facts = Facts::embedded();
    std::vector<RenderedImage> rendered;
    std::vector<Cell> cells;
};

}  // namespace cudamatrix::test
