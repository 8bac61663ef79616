#include "neighbors.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "crew.hpp"
#include "grouping.hpp"
#include "numbers.hpp"
#include "tile.hpp"

namespace labelcut {
namespace {

std::size_t in_groups(std::size_t n, std::size_t n_lanes) { return (n + n_lanes - 1) / n_lanes; }

template <typename Number>
double share_of(std::size_t n_columns) {
  return static_cast<double>(n_columns + 8) * static_cast<double>(std::numeric_limits<Number>::epsilon());
}

// Centers in lanes; what only fills up the last group is never looked at.
class PackedCenters {
 public:
  PackedCenters(const double* center, std::size_t n_columns, const std::vector<Index>& chosen)
      : n_columns_(n_columns), n_groups_(in_groups(chosen.size(), kLanes<double>)) {
    numbers_.resize(n_groups_ * n_columns * kLanes<double>);
    for (std::size_t c = 0; c < chosen.size(); ++c) {
      double* to = numbers_.data() + c / kLanes<double> * n_columns * kLanes<double> + c % kLanes<double>;
      for (std::size_t h = 0; h < n_columns; ++h) to[h * kLanes<double>] = center[chosen[c] * n_columns + h];
    }
  }
  std::size_t width() const { return n_groups_ * kLanes<double>; }

  // Squared distances of up to kPointsAtOnce points that lie one after the other; lines of width() numbers, kPointsAtOnce of
  // them in any case.
  void measure(const double* points, std::size_t n_points, double* squared) const {
    std::vector<double> turned(n_columns_ * kPointsAtOnce);
    for (std::size_t p = 0; p < kPointsAtOnce; ++p) {
      const double* point = points + std::min(p, n_points - 1) * n_columns_;
      for (std::size_t h = 0; h < n_columns_; ++h) turned[h * kPointsAtOnce + p] = point[h];
    }
    loops().measure({n_columns_, n_groups_, turned.data(), numbers_.data(), squared});
  }

 private:
  std::size_t n_columns_, n_groups_;
  std::vector<double> numbers_;
};

std::vector<Index> all_of(std::int64_t n) {
  std::vector<Index> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Does job(chunk) for all chunks on so many threads; poll may throw.
template <typename Job>
void share_out(std::size_t n_chunks, int n_threads, const Poll& poll, const Job& job) {
  Pace pace(poll);
  Crew crew(n_threads, pace, [] { return false; });
  crew.lead([&] {
    crew.run(n_chunks, [&](std::size_t chunk) {
      pace.tick();
      pace.settled(job(chunk));
    });
  });
}

struct Found {
  double squared;
  std::int32_t row;
  bool operator<(const Found& other) const {
    return squared < other.squared || (squared == other.squared && row < other.row);
  }
};

// What is the same for all queries.
template <typename Row, typename Number>
struct Question {
  Question(const DistinctRows<Row>& all_rows, const Shortening& way, const Cells<Number>& divided, const Queries<Row>& asked,
           const Nearest<Row>& to)
      : rows(all_rows),
        shortening(way),
        cells(divided),
        queries(asked),
        answer(to),
        n_short(static_cast<std::size_t>(way.n_short())),
        n_cells(static_cast<std::size_t>(divided.n_cells)),
        k(static_cast<std::size_t>(asked.k) + is_own()),
        centers(divided.center, n_short, all_of(divided.n_cells)) {
    std::vector<std::int64_t> sizes;
    for (std::size_t c = 0, group = 0; c < n_cells; ++c) {
      first_group.push_back(group);
      group += in_groups(static_cast<std::size_t>(cells.start[c + 1] - cells.start[c]), kLanes<Number>);
      const double* center = cells.center + c * n_short;
      largest.push_back(std::sqrt(std::inner_product(center, center + n_short, center, 0.0)) + cells.radius[c]);
      sizes.push_back(rows.equal_start[cells.start[c + 1]] - rows.equal_start[cells.start[c]]);
    }
    // Any so many cells hold k rows.
    std::sort(sizes.begin(), sizes.end());
    std::int64_t n_held = 0;
    for (const std::int64_t size : sizes) {
      if (n_visited >= static_cast<std::size_t>(queries.n_visited) && n_held >= static_cast<std::int64_t>(k)) break;
      n_held += size;
      ++n_visited;
    }
  }

  bool is_own() const { return queries.number == nullptr; }
  // How far from the truth a bound may be, and sums of doubles over all columns, as a share: twice what is sure, or more.
  double share() const { return share_of<Number>(n_short); }
  double rounding() const { return 4 * share_of<double>(static_cast<std::size_t>(rows.n_columns)); }

  const DistinctRows<Row>& rows;
  const Shortening& shortening;
  const Cells<Number>& cells;
  const Queries<Row>& queries;
  const Nearest<Row>& answer;
  const std::size_t n_short, n_cells, k;
  const PackedCenters centers;
  std::size_t n_visited = 0;
  std::vector<std::size_t> first_group;  // of each cell in the table
  std::vector<double> largest;           // no row of the cell is larger
};

// Queries whose nearest center is the same visit the same cells, and are handled together.
struct Company {
  Index home;
  std::int64_t begin, end;  // in the order of the queries
};

template <typename Row, typename Number>
class CompanySearch {
 public:
  CompanySearch(const Question<Row, Number>& question, const Company& company, const Index* order)
      : all_(question),
        company_(company),
        order_(order),
        n_(static_cast<std::size_t>(company.end - company.begin)),
        members_(n_),
        points_(n_ * question.n_short) {}

  // Returns how many distances were measured.
  std::int64_t run() {
    shorten_queries();
    choose_cells();
    for (std::size_t c = 0; c < around_.size(); ++c) visit(c);
    for (std::size_t q = 0; q < n_; ++q) write(q);
    return n_measured_;
  }

 private:
  struct Member {
    const Row* query;
    double square, size;         // of the shortened query
    double farthest = kInfinity;  // cells beyond are not visited
    double reach = kInfinity;     // how far away, shortened, one of the k nearest can be
    double limit = kInfinity;     // no bound of a row within reach exceeds it, but for the rounding of Numbers
    std::vector<Found> nearest;   // so far; a heap, farthest first
  };

  std::int64_t place(std::size_t q) const {
    const std::int64_t k = company_.begin + static_cast<std::int64_t>(q);
    return order_ == nullptr ? k : order_[k];
  }

  void shorten_queries() {
    const Row* const number = all_.is_own() ? all_.rows.number : all_.queries.number;
    for (std::size_t q = 0; q < n_; ++q) {
      Member& member = members_[q];
      member.query = number + place(q) * all_.rows.n_columns;
      member.square = all_.shortening.shorten(member.query, points_.data() + q * all_.n_short);
      member.size = std::sqrt(member.square);
      member.nearest.reserve(all_.k + 1);
    }
  }

  // Cells are visited in the order of their distance from home. An approximate search chooses those nearest to each query
  // among several times as many around home.
  void choose_cells() {
    const bool is_exact = all_.n_visited == all_.n_cells;
    const std::size_t n_around = is_exact ? all_.n_cells : std::min(all_.n_cells, 4 * all_.n_visited + 16);
    std::vector<double> from_home(all_.centers.width() * kPointsAtOnce);
    all_.centers.measure(all_.cells.center + company_.home * all_.n_short, 1, from_home.data());
    around_ = all_of(all_.cells.n_cells);
    const auto end = around_.begin() + static_cast<std::ptrdiff_t>(n_around);
    std::partial_sort(around_.begin(), end, around_.end(), [&](Index a, Index b) {
      return from_home[a] < from_home[b] || (from_home[a] == from_home[b] && a < b);
    });
    around_.resize(n_around);

    const PackedCenters centers(all_.cells.center, all_.n_short, around_);
    width_ = centers.width();
    away_.resize((n_ + kPointsAtOnce) * width_);
    for (std::size_t q = 0; q < n_; q += kPointsAtOnce) {
      centers.measure(points_.data() + q * all_.n_short, std::min(kPointsAtOnce, n_ - q), away_.data() + q * width_);
    }
    std::vector<double> sorted;
    for (std::size_t q = 0; q < n_; ++q) {
      double* const away = away_.data() + q * width_;
      std::transform(away, away + n_around, away, [](double squared) { return std::sqrt(squared); });
      if (is_exact) continue;
      sorted.assign(away, away + n_around);
      const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(all_.n_visited - 1);
      std::nth_element(sorted.begin(), last, sorted.end());
      members_[q].farthest = *last;
    }
  }

  // All members that have reason to visit a cell do, several at once.
  void visit(std::size_t c) {
    visitors_.clear();
    for (std::size_t q = 0; q < n_; ++q) {
      const double away = away_[q * width_ + c];
      if (away <= members_[q].farthest && can_hold(members_[q], away, around_[c])) visitors_.push_back(q);
    }
    for (std::size_t v = 0; v < visitors_.size(); v += kQueriesAtOnce) {
      scan(around_[c], visitors_.data() + v, std::min(kQueriesAtOnce, visitors_.size() - v));
    }
  }

  // The triangle inequality, with room for the rounding of shortened numbers (none of a row's is above 1) and of distances.
  bool can_hold(const Member& member, double away, Index cell) const {
    const double room = all_.rounding() * (away + all_.cells.radius[cell] + member.size + static_cast<double>(all_.n_short));
    return away <= member.reach + all_.cells.radius[cell] + room;
  }

  void scan(Index cell, const std::size_t* visitors, std::size_t n_visitors) {
    const std::size_t n_short = all_.n_short, stride = (1 + n_short) * kLanes<Number>;
    factor_.assign(n_short * kQueriesAtOnce, Number{0});
    Number limit[kQueriesAtOnce];
    for (std::size_t v = 0; v < kQueriesAtOnce; ++v) {
      if (v < n_visitors) {
        const double* point = points_.data() + visitors[v] * n_short;
        for (std::size_t h = 0; h < n_short; ++h) factor_[h * kQueriesAtOnce + v] = static_cast<Number>(point[h]);
      }
      limit[v] = v < n_visitors ? limit_in(cell, members_[visitors[v]]) : -std::numeric_limits<Number>::infinity();
    }
    const std::int64_t first = all_.cells.start[cell];
    const std::size_t n_groups = in_groups(static_cast<std::size_t>(all_.cells.start[cell + 1] - first), kLanes<Number>);
    const Number* const table = all_.cells.table + all_.first_group[cell] * stride;
    std::uint32_t hits[kGroupsAtOnce * kQueriesAtOnce];
    for (std::size_t g = 0; g < n_groups; g += kGroupsAtOnce) {
      const std::size_t n_now = std::min(kGroupsAtOnce, n_groups - g);
      loops_.scan(Tile<Number>{n_short, n_now, factor_.data(), limit, table + g * stride, hits});
      for (std::size_t v = 0; v < n_visitors; ++v) {
        Member& member = members_[visitors[v]];
        bool is_nearer = false;
        for (std::size_t now = 0; now < n_now; ++now) {
          std::uint32_t open = hits[now * kQueriesAtOnce + v];
          for (std::size_t lane = 0; open != 0; ++lane, open >>= 1) {
            if ((open & 1) == 0) continue;
            is_nearer |= measure(member, first + static_cast<std::int64_t>((g + now) * kLanes<Number> + lane));
          }
        }
        if (!is_nearer) continue;
        tighten(member);
        limit[v] = limit_in(cell, member);
      }
    }
  }

  // Measures a row and keeps it, and its equals, if they are among the k nearest; tells whether the farthest of k is nearer now.
  bool measure(Member& member, std::int64_t i) {
    ++n_measured_;
    const double squared = squared_distance(member.query, all_.rows.row(i), all_.rows.n_columns);
    bool is_nearer = false;
    for (std::int64_t e = all_.rows.equal_start[i]; e < all_.rows.equal_start[i + 1]; ++e) {
      const Found found{squared, all_.rows.equal[e]};
      if (member.nearest.size() == all_.k && !(found < member.nearest.front())) break;
      member.nearest.push_back(found);
      std::push_heap(member.nearest.begin(), member.nearest.end());
      if (member.nearest.size() > all_.k) {
        std::pop_heap(member.nearest.begin(), member.nearest.end());
        member.nearest.pop_back();
      }
      is_nearer = member.nearest.size() == all_.k;
    }
    return is_nearer;
  }

  // Once k rows are known, nothing beyond the farthest of them matters. A square may have been lost below the smallest double.
  void tighten(Member& member) const {
    constexpr double kLost = std::numeric_limits<double>::denorm_min();
    const double unit = all_.shortening.unit;
    const double n_lost = static_cast<double>(all_.rows.n_columns + 8);
    const double squared = member.nearest.front().squared;
    const double scaled = squared * unit * unit;
    member.reach = std::sqrt(squared + n_lost * kLost) * unit;
    member.limit = (scaled - member.square) / 2 + all_.rounding() * (scaled + member.square) + n_lost * kLost * unit * unit;
  }

  // Rounded up, with what Numbers may be off in this cell.
  Number limit_in(Index cell, const Member& member) const {
    const double exact = member.limit + all_.share() * member.size * all_.largest[cell];
    return std::nextafter(static_cast<Number>(exact), std::numeric_limits<Number>::infinity());
  }

  void write(std::size_t q) {
    std::vector<Found>& nearest = members_[q].nearest;
    std::sort_heap(nearest.begin(), nearest.end());
    if (!all_.is_own()) {
      write_line(place(q), nearest, -1);
      return;
    }
    for (std::int64_t e = all_.rows.equal_start[place(q)]; e < all_.rows.equal_start[place(q) + 1]; ++e) {
      write_line(all_.rows.equal[e], nearest, all_.rows.equal[e]);
    }
  }

  // All but one row, or, if it was crowded out by its equals, all but the last.
  void write_line(std::int64_t line, const std::vector<Found>& nearest, std::int32_t left_out) const {
    std::int64_t to = line * all_.queries.k;
    const std::int64_t end = to + all_.queries.k;
    for (std::size_t f = 0; to < end; ++f) {
      if (nearest[f].row == left_out) continue;
      all_.answer.row[to] = nearest[f].row;
      all_.answer.distance[to++] = static_cast<Row>(std::sqrt(nearest[f].squared));
    }
  }

  const Question<Row, Number>& all_;
  const Company company_;
  const Index* const order_;  // of the queries; null if they lie in order
  const std::size_t n_;
  const Loops loops_ = loops();
  std::vector<Member> members_;
  std::vector<double> points_;  // the shortened queries
  std::vector<Index> around_;   // the cells to look at, nearest to home first
  std::vector<double> away_;    // of each query from each of them
  std::size_t width_ = 0;       // of a line of away_
  std::vector<std::size_t> visitors_;
  std::vector<Number> factor_;
  std::int64_t n_measured_ = 0;
};

// So many at most; a multiple of kQueriesAtOnce and of kPointsAtOnce.
constexpr std::int64_t kCompany = 96;

template <typename Start>
std::vector<Company> companies(const Start* start, std::size_t n_cells) {
  std::vector<Company> all;
  for (std::size_t c = 0; c < n_cells; ++c) {
    const auto end = static_cast<std::int64_t>(start[c + 1]);
    for (auto begin = static_cast<std::int64_t>(start[c]); begin < end; begin += kCompany) {
      all.push_back({static_cast<Index>(c), begin, std::min(begin + kCompany, end)});
    }
  }
  return all;
}

}  // namespace

std::int64_t table_size(const std::int64_t* start, std::int64_t n_cells, std::int64_t n_short, std::int64_t n_lanes) {
  std::int64_t n_groups = 0;
  for (std::int64_t c = 0; c < n_cells; ++c) n_groups += (start[c + 1] - start[c] + n_lanes - 1) / n_lanes;
  return n_groups * (1 + n_short) * n_lanes;
}

template <typename Row, typename Number>
void pack_cells(const DistinctRows<Row>& rows, const Shortening& shortening, const std::int64_t* start, std::int64_t n_cells,
                Number* table) {
  const std::size_t n_short = static_cast<std::size_t>(shortening.n_short());
  const double share = share_of<Number>(n_short);
  const double tiny = 100.0 * static_cast<double>(std::numeric_limits<Number>::min());
  std::vector<double> y(n_short);
  for (std::int64_t c = 0; c < n_cells; ++c) {
    for (std::int64_t first = start[c]; first < start[c + 1]; first += kLanes<Number>) {
      for (std::size_t lane = 0; lane < kLanes<Number>; ++lane, ++table) {
        const std::int64_t i = first + static_cast<std::int64_t>(lane);
        const bool is_row = i < start[c + 1];
        const double half = is_row ? shortening.shorten(rows.row(i), y.data()) / 2 : 0.0;
        // What only fills up a group is at most no limit.
        table[0] = is_row ? static_cast<Number>((1.0 - share) * half - tiny) : std::numeric_limits<Number>::quiet_NaN();
        for (std::size_t h = 0; h < n_short; ++h) table[(1 + h) * kLanes<Number>] = is_row ? static_cast<Number>(-y[h]) : Number{0};
      }
      table += n_short * kLanes<Number>;
    }
  }
}

template <typename Row>
void nearest_center(const Row* row, std::int64_t n_rows, const Shortening& shortening, const double* center,
                    std::int64_t n_cells, int n_threads, const Poll& poll, std::int32_t* number, double* distance) {
  constexpr std::int64_t kChunk = 1024;
  const std::size_t n_short = static_cast<std::size_t>(shortening.n_short());
  const PackedCenters centers(center, n_short, all_of(n_cells));
  share_out(static_cast<std::size_t>((n_rows + kChunk - 1) / kChunk), n_threads, poll, [&](std::size_t chunk) {
    const std::int64_t begin = static_cast<std::int64_t>(chunk) * kChunk, end = std::min(begin + kChunk, n_rows);
    std::vector<double> points(n_short * kPointsAtOnce), squared(centers.width() * kPointsAtOnce);
    for (std::int64_t i = begin; i < end; i += kPointsAtOnce) {
      const std::size_t n_now = std::min(kPointsAtOnce, static_cast<std::size_t>(end - i));
      for (std::size_t p = 0; p < n_now; ++p) {
        shortening.shorten(row + (i + static_cast<std::int64_t>(p)) * shortening.n_columns, points.data() + p * n_short);
      }
      centers.measure(points.data(), n_now, squared.data());
      for (std::size_t p = 0; p < n_now; ++p) {
        const double* const away = squared.data() + p * centers.width();
        const double* const nearest = std::min_element(away, away + n_cells);
        number[i + static_cast<std::int64_t>(p)] = static_cast<std::int32_t>(nearest - away);
        distance[i + static_cast<std::int64_t>(p)] = std::sqrt(*nearest);
      }
    }
    return end - begin;
  });
}

template <typename Row, typename Number>
std::int64_t search(const DistinctRows<Row>& rows, const Shortening& shortening, const Cells<Number>& cells,
                    const Queries<Row>& queries, int n_threads, const Poll& poll, const Nearest<Row>& answer) {
  const Question<Row, Number> question(rows, shortening, cells, queries, answer);
  const Index* order = nullptr;
  std::vector<Company> all;
  Grouping by_home(std::vector<std::int32_t>{}, 0);
  if (question.is_own()) {
    all = companies(cells.start, question.n_cells);
  } else {
    std::vector<std::int32_t> home(static_cast<std::size_t>(queries.n_queries));
    std::vector<double> distance(home.size());
    nearest_center(queries.number, queries.n_queries, shortening, cells.center, cells.n_cells, n_threads, poll, home.data(),
                   distance.data());
    by_home = Grouping(home, question.n_cells);
    order = by_home.node_at.data();
    all = companies(by_home.start.data(), question.n_cells);
  }
  std::atomic<std::int64_t> n_measured{0};
  share_out(all.size(), n_threads, poll, [&](std::size_t c) {
    n_measured += CompanySearch<Row, Number>(question, all[c], order).run();
    return all[c].end - all[c].begin;
  });
  return n_measured;
}

#define LABELCUT_INSTANTIATE(Row, Number)                                                                                     \
  template void pack_cells(const DistinctRows<Row>&, const Shortening&, const std::int64_t*, std::int64_t, Number*);          \
  template std::int64_t search(const DistinctRows<Row>&, const Shortening&, const Cells<Number>&, const Queries<Row>&, int, \
                               const Poll&, const Nearest<Row>&);
LABELCUT_INSTANTIATE(float, float)
LABELCUT_INSTANTIATE(float, double)
LABELCUT_INSTANTIATE(double, float)
LABELCUT_INSTANTIATE(double, double)
#undef LABELCUT_INSTANTIATE

template void nearest_center(const float*, std::int64_t, const Shortening&, const double*, std::int64_t, int, const Poll&,
                             std::int32_t*, double*);
template void nearest_center(const double*, std::int64_t, const Shortening&, const double*, std::int64_t, int, const Poll&,
                             std::int32_t*, double*);

}  // namespace labelcut
