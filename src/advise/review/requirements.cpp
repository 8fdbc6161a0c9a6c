#include "advise/review/requirements.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "advise/upgrade/newer_values.hpp"
#include "base/version.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/solve/conflict.hpp"
#include "knowledge/solve/variable.hpp"

namespace cudamatrix::review {
namespace {

// The machine and what is asked of it.
bool is_of_machine(Field field) {
    const FieldSet fields{Field::driver,   Field::gpu,           Field::compute, Field::host_class,
                          Field::platform, Field::kernel_module, Field::toolkit, Field::vram_gb,
                          Field::mig,      Field::shm_gb,        Field::arch};
    return fields.contains(field);
}

class Requiring {
  public:
    explicit Requiring(upgrade::Fleet& fleet) : fleet_(fleet) {
        for (std::size_t i = 0; i < fleet.variable_count(); ++i) {
            if (fleet.variable(i).field == Field::driver) driver_ = i;
            if (fleet.variable(i).field == Field::gpu) gpu_ = i;
        }
    }

    // The cells that work by what they have beside the machine.
    std::vector<Requirement> run() {
        std::vector<Requirement> out;
        std::vector<std::vector<std::size_t>> cells;
        std::map<std::vector<std::string>, std::size_t> places;
        const auto& judged = fleet_.judgement().cells;
        for (std::size_t i = 0; i < judged.size(); ++i) {
            if (judged[i].verdict > solve::kGoodEnough) continue;
            const auto values = fleet_.values(judged[i].cell);
            std::vector<std::string> key;
            for (std::size_t v = 0; v < values.size(); ++v) {
                if (!is_of_machine(fleet_.variable(v).field)) key.push_back(values[v]);
            }
            const auto [found, is_new] = places.emplace(key, out.size());
            if (is_new) {
                auto& stack = out.emplace_back().stack;
                cells.emplace_back();
                for (std::size_t v = 0; v < values.size(); ++v) {
                    if (!is_of_machine(fleet_.variable(v).field) && !values[v].empty())
                        stack.emplace_back(fleet_.variable(v).name(), values[v]);
                }
            }
            cells[found->second].push_back(i);
        }
        for (std::size_t i = 0; i < out.size() && !fleet_.is_stopped(); ++i)
            fill(out[i], cells[i]);
        return out;
    }

  private:
    void fill(Requirement& out, const std::vector<std::size_t>& cells) {
        out.cells = cells.size();
        say_machines(cells, out);
        std::vector<std::uint32_t> drivers;
        if (driver_ && has_driver(cells)) {
            if (const auto oldest = oldest_driver(cells)) {
                out.oldest_driver = fleet_.text(*driver_, *oldest);
                drivers.push_back(*oldest);
            }
            if (const auto best = best_driver(cells)) {
                out.best_driver = fleet_.text(*driver_, *best);
                drivers.push_back(*best);
            }
        }
        if (gpu_) compute_range(cells.front(), drivers, out);
    }

    void say_machines(const std::vector<std::size_t>& cells, Requirement& out) const {
        std::optional<unsigned> vram;
        for (const auto cell : cells) {
            const auto& values = fleet_.judgement().cells[cell].cell;
            if (const auto* gpu = values.get(Field::gpu);
                gpu != nullptr && std::ranges::find(out.gpus, gpu->text) == out.gpus.end())
                out.gpus.push_back(gpu->text);
            if (const auto* asked = values.get(Field::vram_gb)) {
                const auto gigabytes = Version::parse(asked->text);
                if (gigabytes && (!vram || gigabytes->major() > *vram)) vram = gigabytes->major();
            }
        }
        if (vram) out.vram_gb = std::to_string(*vram);
    }

    [[nodiscard]] bool all_work(const std::vector<std::size_t>& cells, std::uint32_t driver) {
        return std::ranges::all_of(cells, [&](std::size_t cell) {
            return fleet_.verdict_with(cell, {{*driver_, driver}}) <= solve::kGoodEnough;
        });
    }

    [[nodiscard]] bool has_driver(const std::vector<std::size_t>& cells) const {
        return std::ranges::all_of(
            cells, [&](std::size_t cell) { return fleet_.judgement().cells[cell].cell.has(Field::driver); });
    }

    // Values are sorted newest first.
    [[nodiscard]] std::optional<std::uint32_t> oldest_driver(const std::vector<std::size_t>& cells) {
        const auto& values = fleet_.variable(*driver_).values;
        for (auto i = static_cast<std::uint32_t>(values.size()); i-- > 0;) {
            if (values[i] && all_work(cells, i)) return i;
        }
        return std::nullopt;
    }

    [[nodiscard]] std::optional<std::uint32_t> best_driver(const std::vector<std::size_t>& cells) {
        std::optional<std::uint32_t> best;
        std::string best_end;
        std::set<std::uint32_t> candidates;
        for (const auto cell : cells) {
            const auto present =
                fleet_.variable(*driver_).find(fleet_.judgement().cells[cell].cell.get(Field::driver)->text);
            if (!present || !candidates.insert(*present).second) continue;
            const auto& newer = fleet_.newer(*driver_, *present);
            candidates.insert(newer.on_line.begin(), newer.on_line.end());
            candidates.insert(newer.beyond.begin(), newer.beyond.end());
        }
        for (const auto candidate : candidates) {  // newest first
            const auto life =
                upgrade::life_of(fleet_.facts(), Field::driver, fleet_.text(*driver_, candidate));
            if (upgrade::has_ended(life, fleet_.today()) || (best && life.ends <= best_end)) continue;
            if (!all_work(cells, candidate)) continue;
            best = candidate;
            best_end = life.ends;
        }
        return best;
    }

    // With the first cell's own driver, too.
    void compute_range(std::size_t cell, const std::vector<std::uint32_t>& drivers, Requirement& out) {
        if (!fleet_.judgement().cells[cell].cell.has(Field::gpu)) return;
        std::optional<Version> least, most;
        const auto& values = fleet_.variable(*gpu_).values;
        for (std::uint32_t i = 0; i < values.size(); ++i) {
            if (!values[i]) continue;
            const auto row = lookup::gpu(fleet_.facts(), values[i]->text);
            const auto compute = row ? Version::parse(row->text("compute")) : std::nullopt;
            if (!compute || (least && *least <= *compute && *compute <= *most)) continue;
            bool works = fleet_.verdict_with(cell, {{*gpu_, i}}) <= solve::kGoodEnough;
            for (std::size_t d = 0; d < drivers.size() && !works; ++d)
                works = fleet_.verdict_with(cell, {{*gpu_, i}, {*driver_, drivers[d]}}) <= solve::kGoodEnough;
            if (!works) continue;
            if (!least || *compute < *least) least = compute;
            if (!most || *compute > *most) most = compute;
        }
        if (least) out.least_compute = least->text();
        if (most) out.most_compute = most->text();
    }

    upgrade::Fleet& fleet_;
    std::optional<std::size_t> driver_, gpu_;
};

}  // namespace

upgrade::Wanted values_to_try(const Facts& facts) {
    upgrade::Wanted out;
    for (const auto field : {Field::driver, Field::gpu}) {
        for (const auto& value : solve::variable_of(facts, field).values) {
            if (value) out.emplace_back(field, value->text);
        }
    }
    return out;
}

std::vector<Requirement> requirements_of(upgrade::Fleet& fleet) {
    return Requiring(fleet).run();
}

}  // namespace cudamatrix::review
