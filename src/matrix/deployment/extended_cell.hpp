// A cell with what an entry of images or services adds to it: judging and rendering treat both alike.
#pragma once

#include <string>
#include <vector>

#include "matrix/deployment/services.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix {

/// Stays where it is while `cell()` or a copy of it is in use.
class ExtendedCell {
  public:
    explicit ExtendedCell(const Cell& cell) : cell_(cell) {}
    ExtendedCell(const ExtendedCell&) = delete;
    ExtendedCell& operator=(const ExtendedCell&) = delete;

    /// What is wrong where the cell has a package at another version: "numpy 1.26.4, where packages of the
    /// cell say 2.0.0".
    [[nodiscard]] std::string add_packages(const std::vector<Variable>& packages) {
        return add(Field::packages, packages_, packages, false);
    }
    [[nodiscard]] std::string add_env(const std::vector<Variable>& variables) {
        return add(Field::env, env_, variables, false);
    }
    /// Sets environment variables, whatever the cell says of them.
    void set_env(const std::vector<Variable>& variables) { add(Field::env, env_, variables, true); }

    [[nodiscard]] const Cell& cell() const { return cell_; }

  private:
    std::string add(Field field, Value& own, const std::vector<Variable>& members, bool replace);

    Cell cell_;
    Value packages_;
    Value env_;
};

}  // namespace cudamatrix
