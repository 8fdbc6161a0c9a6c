// What may stand in the place of a value on a way to somewhere, and in which order it is tried (private to
// the room).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/upgrade/fleet.hpp"
#include "advise/upgrade/newer_values.hpp"
#include "base/version.hpp"

namespace cudamatrix::upgrade {

class Choices {
  public:
    /// `horizon`: YYYY-MM-DD. What ends before it is taken only where all do.
    Choices(Fleet& fleet, std::string horizon) : fleet_(fleet), horizon_(std::move(horizon)) {}

    /// Newest first, what the front of a unit may become: of what machines bring those that outlive all rows
    /// of the axis, the longest first. Beside a torch the toolkit is that of its build.
    [[nodiscard]] Values choices(const Target& target, std::size_t u, std::size_t v) const;
    /// A value in the place of another; of a torch first with the toolkit that goes with it.
    [[nodiscard]] std::vector<Target> steps_to(const Target& target, std::size_t u, std::size_t row,
                                               std::size_t v, std::uint32_t value) const;
    /// Whether the toolkit is that of the torch, where the target has both.
    [[nodiscard]] bool goes_with_toolkit(const Target& target) const;
    /// The values, those of one release together: the builds of a torch, the kinds of an image.
    [[nodiscard]] std::vector<Values> by_release(std::size_t u, std::size_t v, const Values& values) const;
    [[nodiscard]] bool is_of_host(std::size_t u, std::size_t v) const {
        return about(u, v).field == Field::driver || about(u, v).field == Field::os;
    }

    template <class Visit>
    void each_front(Field field, const Visit& visit) const {
        for (std::size_t u = 0; u < fleet_.units().size(); ++u) {
            for (std::size_t v = 0; v < fleet_.units()[u].variables.size(); ++v) {
                if (about(u, v).field == field) visit(u, v);
            }
        }
    }
    [[nodiscard]] std::size_t variable(std::size_t u, std::size_t v) const {
        return fleet_.units()[u].variables[v];
    }
    [[nodiscard]] const solve::Variable& about(std::size_t u, std::size_t v) const {
        return fleet_.variable(variable(u, v));
    }
    [[nodiscard]] Life life(std::size_t u, std::size_t v, std::uint32_t value) const {
        return life_of(fleet_.facts(), about(u, v).field, fleet_.text(variable(u, v), value));
    }
    [[nodiscard]] std::size_t front(std::size_t u) const { return fleet_.units()[u].front; }
    [[nodiscard]] std::uint32_t original(std::size_t u, std::size_t row, std::size_t v) const {
        return fleet_.units()[u].rows[row][v];
    }
    [[nodiscard]] const std::string& horizon() const { return horizon_; }

  private:
    [[nodiscard]] std::optional<Version> cuda_of_build(std::string_view torch) const;
    [[nodiscard]] std::optional<Version> cuda_of_torch(const Target& target) const;
    [[nodiscard]] Values toolkits_of(std::size_t u, std::size_t v, const Version& minor) const;
    [[nodiscard]] bool outlives(std::size_t u, std::size_t v, std::uint32_t value) const;

    const Fleet& fleet_;
    std::string horizon_;
};

}  // namespace cudamatrix::upgrade
