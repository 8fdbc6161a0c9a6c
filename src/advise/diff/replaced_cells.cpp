#include "advise/diff/replaced_cells.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <utility>

namespace cudamatrix::diff {
namespace {

std::string text_of(const Cell& cell, Field field) {
    const auto* value = cell.get(field);
    return value == nullptr ? std::string() : value->text;
}

// A cell of either side, with a hash of each of its values.
struct Candidate {
    const std::string* id;
    const JudgedCell* cell;
    std::array<std::size_t, kFieldCount> hashes{};
    std::size_t all = 0;
    bool paired = false;

    // Of all values but those of two fields (or of one: the same twice).
    [[nodiscard]] std::size_t without(std::size_t a, std::size_t b) const {
        return all ^ hashes[a] ^ (a == b ? 0 : hashes[b]);
    }
};

std::vector<Candidate> candidates_of(const CellsById& cells) {
    std::vector<Candidate> out;
    for (const auto& [id, cell] : cells) {
        Candidate candidate{&id, cell, {}, 0, false};
        for (const auto& field : all_fields()) {
            const auto text = text_of(cell->cell, field.field);
            const auto hash =
                text.empty() ? 0 : std::hash<std::string>()(std::string(field.name) + "=" + text);
            candidate.hashes[static_cast<std::size_t>(field.field)] = hash;
            candidate.all ^= hash;
        }
        out.push_back(candidate);
    }
    return out;
}

std::vector<ValueChange> changes_between(const Cell& before, const Cell& now) {
    std::vector<ValueChange> out;
    for (const auto& field : all_fields()) {
        auto old = text_of(before, field.field);
        auto text = text_of(now, field.field);
        if (old != text) out.push_back({std::string(field.name), std::move(old), std::move(text)});
    }
    return out;
}

class Pairing {
  public:
    Pairing(const CellsById& gone, const CellsById& fresh)
        : gone_(candidates_of(gone)), fresh_(candidates_of(fresh)) {}

    // Pairs what differs in the values of these two fields at most.
    void pair(std::size_t a, std::size_t b) {
        struct Alike {
            std::vector<Candidate*> gone, fresh;
        };
        std::map<std::size_t, Alike> alike;
        for (auto& each : gone_) {
            if (!each.paired) alike[each.without(a, b)].gone.push_back(&each);
        }
        for (auto& each : fresh_) {
            if (each.paired) continue;
            const auto found = alike.find(each.without(a, b));
            if (found != alike.end()) found->second.fresh.push_back(&each);
        }
        for (auto& [hash, cells] : alike) {
            if (cells.gone.size() != 1 || cells.fresh.size() != 1) continue;
            auto& before = *cells.gone.front();
            auto& now = *cells.fresh.front();
            auto changes = changes_between(before.cell->cell, now.cell->cell);
            if (changes.size() > (a == b ? 1 : 2)) continue;  // two values with one hash
            before.paired = now.paired = true;
            out_.push_back({*before.id, *now.id, std::move(changes)});
        }
    }

    // Fields of which either side has another value than the first cell has.
    [[nodiscard]] std::vector<std::size_t> varying() const {
        std::vector<std::size_t> out;
        for (std::size_t field = 0; field < kFieldCount; ++field) {
            const auto differs = [&](const Candidate& each) {
                return each.hashes[field] != gone_.front().hashes[field];
            };
            if (std::ranges::any_of(gone_, differs) || std::ranges::any_of(fresh_, differs))
                out.push_back(field);
        }
        return out;
    }

    std::vector<ReplacedCell> take() && {
        std::ranges::sort(out_, {}, &ReplacedCell::before);
        return std::move(out_);
    }

  private:
    std::vector<Candidate> gone_, fresh_;
    std::vector<ReplacedCell> out_;
};

}  // namespace

std::vector<ReplacedCell> replaced_cells(const CellsById& gone, const CellsById& fresh) {
    if (gone.empty() || fresh.empty()) return {};
    Pairing pairing(gone, fresh);
    const auto fields = pairing.varying();
    for (const auto field : fields)
        pairing.pair(field, field);
    for (std::size_t i = 0; i < fields.size(); ++i) {
        for (std::size_t k = i + 1; k < fields.size(); ++k)
            pairing.pair(fields[i], fields[k]);
    }
    return std::move(pairing).take();
}

}  // namespace cudamatrix::diff
