#include "advise/review/calendar.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "advise/upgrade/newer_values.hpp"
#include "base/text.hpp"
#include "knowledge/facts/images.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/resolve/images.hpp"

namespace cudamatrix::review {
namespace {

constexpr std::array kFields{Field::driver, Field::cuda, Field::torch,  Field::image,
                             Field::python, Field::os,   Field::toolkit};

void sort_by_day(std::vector<Event>& events) {
    std::ranges::stable_sort(events, {}, [](const Event& event) { return last_day_of(event.day); });
}

// "driver branch 535", "CUDA 12.6.3".
std::string subject_of(const Facts& facts, Field field, const std::string& value) {
    switch (field) {
        case Field::driver: {
            const auto known = lookup::driver(facts, value);
            const auto branch =
                known && known->branch ? known->branch->text("branch") : std::string_view(value);
            return fmt::format("driver branch {}", branch);
        }
        case Field::cuda:
            return "CUDA " + value;
        case Field::os: {
            const auto row = lookup::os(facts, value);
            return row ? std::string(row->text("name")) : value;
        }
        case Field::toolkit:
            return "container toolkit " + value;
        default:
            return fmt::format("{} {}", info(field).name, value);
    }
}

void add_ends(const Facts& facts, ValueInUse& value) {
    const auto life = upgrade::life_of(facts, value.field, value.value);
    value.released = life.released;
    value.fact = life.fact;
    if (life.ends.empty()) return;
    const auto subject = subject_of(facts, value.field, value.value);
    const auto row = value.field == Field::os ? lookup::os(facts, value.value) : std::nullopt;
    if (row && row->has("lts_eol") && row->has("eol"))
        value.events.push_back(
            {std::string(row->text("eol")), EventKind::standard_end, subject, value.cells, life.fact});
    value.events.push_back({life.ends, EventKind::end, subject, value.cells, life.fact});
}

// What NVIDIA said of the image by `today`.
void add_image_ends(const Facts& facts, const lookup::CudaTag& tag, std::string_view today,
                    ValueInUse& value) {
    const auto row = lookup::cuda_image_row(lookup::cuda_release_images(facts, tag.cuda), tag);
    if (!row || row->text("status") == "deleted") return;
    value.fact = row->ref();
    const auto over = lookup::superseded(facts, *row);
    if (!over || over->day.empty() || over->day > today) return;
    const auto fact = row->has("marked_eol") || !over->by ? row->ref() : over->by->ref();
    const auto subject = "image " + value.value;
    value.events.push_back({over->day, EventKind::superseded, subject, value.cells, fact});
    value.events.push_back({rules::deletable_from(facts, last_day_of(over->day)), EventKind::deletion,
                            subject, value.cells, fact});
}

// The image of NVIDIA's that a cell starts from.
std::optional<rules::CudaImage> image_of(const Cell& cell, const Facts& facts, std::string_view today) {
    const FieldSet fields{Field::family, Field::image, Field::cuda, Field::os, Field::flavour, Field::cudnn};
    const rules::ProjectedCell view(cell, fields);
    return rules::cuda_image({view, facts, today});
}

class Collected {
  public:
    Collected(const Facts& facts, std::string_view today) : facts_(facts), today_(today) {}

    void add(const Cell& cell) {
        for (const auto field : kFields) {
            const auto* value = cell.get(field);
            if (value != nullptr && field != Field::image) count(field, value->text, {});
        }
        if (const auto image = image_of(cell, facts_, today_); image && !image->pinned)
            count(Field::image, fmt::format("{}:{}", image->name, image->tag.text()), image->tag);
        else if (const auto* named = cell.get(Field::image))
            count(Field::image, named->text, {});
    }

    std::vector<ValueInUse> finish() && {
        for (std::size_t i = 0; i < values_.size(); ++i) {
            auto& value = values_[i];
            const auto newer = upgrade::newer_values(facts_, value.field, value.value, today_);
            if (!newer.on_line.empty()) value.newest_on_line = newer.on_line.front();
            if (!newer.beyond.empty()) value.newest = newer.beyond.front();
            add_ends(facts_, value);
            if (tags_[i]) add_image_ends(facts_, *tags_[i], today_, value);
        }
        std::ranges::stable_sort(values_, {}, [](const ValueInUse& value) {
            return std::ranges::find(kFields, value.field) - kFields.begin();
        });
        return std::move(values_);
    }

  private:
    void count(Field field, const std::string& text, const std::optional<lookup::CudaTag>& tag) {
        const auto [found, is_new] = places_.emplace(std::pair(field, text), values_.size());
        if (is_new) {
            auto& value = values_.emplace_back();
            value.field = field;
            value.value = text;
            tags_.push_back(tag);
        }
        ++values_[found->second].cells;
    }

    const Facts& facts_;
    std::string_view today_;
    std::vector<ValueInUse> values_;
    std::vector<std::optional<lookup::CudaTag>> tags_;
    std::map<std::pair<Field, std::string>, std::size_t> places_;
};

// Several releases of one driver branch end together.
void add_once(std::vector<Event>& events, const Event& event) {
    const auto same = std::ranges::find_if(events, [&](const Event& other) {
        return other.subject == event.subject && other.kind == event.kind;
    });
    if (same == events.end()) return events.push_back(event);
    same->cells += event.cells;
}

// Cells whose findings the waiver of that place accepts.
std::uint64_t waived_cells(const Judgement& judgement, const Waiver& waiver) {
    std::uint64_t cells = 0;
    for (const auto& judged : judgement.cells) {
        const bool is_waived = std::ranges::any_of(judged.findings, [&](std::uint32_t index) {
            const auto& group = judgement.findings[index];
            return group.waived && group.waived->where == waiver.where;
        });
        cells += is_waived ? 1 : 0;
    }
    return cells;
}

struct Releases {
    Field field;
    std::string_view table, column;
};
constexpr std::array kReleases{
    Releases{Field::torch, "torch_releases", "torch"}, Releases{Field::cuda, "cuda_releases", "cuda"},
    Releases{Field::python, "pythons", "python"}, Releases{Field::driver, "driver_branches", "branch"},
    Releases{Field::os, "operating_systems", "os"}};

}  // namespace

std::string_view to_string(EventKind kind) {
    static constexpr std::array<std::string_view, 6> words{
        "released",    "no longer supported",      "standard support ends",
        "end of life", "may be deleted by NVIDIA", "waiver ends"};
    return words[static_cast<std::size_t>(kind)];
}

bool is_past(const Event& event, std::string_view day) {
    // On its own day a waiver holds and a thing is supported; an image may be deleted.
    const auto last = last_day_of(event.day);
    const bool from_then_on = event.kind == EventKind::deletion || event.kind == EventKind::superseded ||
                              event.kind == EventKind::release;
    return from_then_on ? last <= day : last < day;
}

std::vector<ValueInUse> values_in_use(const Judgement& judgement, const Facts& facts,
                                      std::string_view today) {
    Collected collected(facts, today);
    for (const auto& judged : judgement.cells)
        collected.add(judged.cell);
    return std::move(collected).finish();
}

std::vector<Event> calendar(const std::vector<ValueInUse>& values, const Matrix& matrix,
                            const Judgement& judgement, std::string_view horizon) {
    std::vector<Event> out;
    for (const auto& value : values) {
        for (const auto& event : value.events) {
            if (last_day_of(event.day) <= last_day_of(horizon)) add_once(out, event);
        }
    }
    for (const auto& waiver : matrix.waivers) {
        if (waiver.until > horizon) continue;
        out.push_back({waiver.until, EventKind::waiver_end,
                       fmt::format("waiver of {} ({})", waiver.rule, waiver.because),
                       waived_cells(judgement, waiver)});
    }
    sort_by_day(out);
    return out;
}

std::vector<Event> events_between(const std::vector<ValueInUse>& values, const Facts& facts,
                                  std::string_view since, std::string_view today) {
    std::vector<Event> out;
    const auto is_between = [&](std::string_view day) {
        return !day.empty() && last_day_of(day) > since && day <= today.substr(0, day.size());
    };
    for (const auto& [field, table, column] : kReleases) {
        const auto has_field = [field = field](const ValueInUse& value) { return value.field == field; };
        if (std::ranges::none_of(values, has_field)) continue;
        for (const auto& row : facts.rows(table)) {
            if (!is_between(row.text("released"))) continue;
            out.push_back({std::string(row.text("released")), EventKind::release,
                           subject_of(facts, field, std::string(row.text(column))), 0, row.ref()});
        }
    }
    for (const auto& value : values) {
        for (const auto& event : value.events) {
            if (is_between(event.day)) add_once(out, event);
        }
    }
    sort_by_day(out);
    return out;
}

std::vector<ImageToCopy> images_to_copy(const std::vector<ValueInUse>& values) {
    std::vector<ImageToCopy> out;
    for (const auto& value : values) {
        for (const auto& event : value.events) {
            if (event.kind == EventKind::deletion) out.push_back({value.value, event.day, value.cells});
        }
    }
    return out;
}

}  // namespace cudamatrix::review
