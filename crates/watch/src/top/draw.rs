//! A frame of the view.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::model::Model;
use super::rows::{BundleRow, MemberRow, View};
use super::units::{bar, fit, short};

/// Lines of events, where there is room for them.
const EVENTS: u16 = 4;
/// Fewer lines than this have no place for events.
const ROOM_FOR_EVENTS: u16 = 16;
/// The columns beside the bars.
const NAME: usize = 14;
const STATE: usize = 10;
const NUMBER: usize = 6;
const SHARE: usize = 7;
const LOST: usize = 6;
/// Shorter bars say nothing.
const SHORTEST_BAR: usize = 5;

/// The widths of columns for a terminal's width; what has no room is left out.
#[derive(Clone, Copy)]
struct Columns {
    name: usize,
    state: usize,
    bar: usize,
    share: usize,
    lost: usize,
}

impl Columns {
    fn of(width: usize) -> Columns {
        let needs = |columns: &Columns| {
            let optional = [columns.state, columns.share, columns.lost].map(|width| width + usize::from(width > 0));
            columns.name + 2 * (NUMBER + 1) + optional.iter().sum::<usize>()
        };
        let mut columns = Columns { name: NAME, state: STATE, bar: 0, share: SHARE, lost: LOST };
        // The least important first.
        if needs(&columns) > width {
            columns.share = 0;
        }
        if needs(&columns) > width {
            columns.lost = 0;
        }
        if needs(&columns) > width {
            columns.state = 0;
        }
        columns.name = columns.name.min(width.saturating_sub(2 * (NUMBER + 1)).max(1));
        let left = width.saturating_sub(needs(&columns));
        let bar = left.saturating_sub(2) / 2;
        columns.bar = if bar >= SHORTEST_BAR { bar } else { 0 };
        columns
    }
}

impl Model {
    /// Draws it all.
    pub fn draw(&self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let Some(view) = &self.view else {
            frame.render_widget(Paragraph::new("reading the bundles ..."), area);
            return;
        };
        let shows_events = self.has_events && area.height >= ROOM_FOR_EVENTS && !view.events.is_empty();
        let count = u16::try_from(view.events.len()).unwrap_or(EVENTS).min(EVENTS);
        let events = if shows_events { count + 1 } else { 0 };
        let [head, titles, body, happened, keys] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Min(0),
            Constraint::Length(events),
            Constraint::Length(1),
        ])
        .areas(area);
        let columns = Columns::of(usize::from(area.width));
        frame.render_widget(self.head(view, usize::from(area.width)), head);
        frame.render_widget(self.titles(columns), titles);
        self.draw_body(frame, view, columns, body);
        if shows_events {
            self.draw_events(frame, view, happened);
        }
        frame.render_widget(self.keys(usize::from(area.width)), keys);
    }

    fn head(&self, view: &View, width: usize) -> Line<'static> {
        let seconds = view.unix_ms / 1000 % 86_400;
        let time = format!("{:02}:{:02}:{:02} UTC", seconds / 3600, seconds / 60 % 60, seconds % 60);
        let paused = if self.is_paused { "  PAUSED" } else { "" };
        let bundles = match view.bundles.len() {
            1 => "1 bundle".to_owned(),
            count => format!("{count} bundles"),
        };
        let (unit, sort) = (self.unit.title(), self.sort.title());
        let text = match width {
            _ if !view.title.is_empty() => format!("{}  {bundles}  {unit}{paused}", view.title),
            70.. => format!("nicteam top  {time}  {bundles}  {unit}  sorted by {sort}{paused}"),
            _ => format!("{time}  {bundles}  {unit}{paused}"),
        };
        Line::styled(fit(&text, width), Style::new().add_modifier(Modifier::BOLD))
    }

    fn titles(&self, columns: Columns) -> Line<'static> {
        let wide = |word: &str| format!(" {word:>NUMBER$}{}", " ".repeat(columns.bar + usize::from(columns.bar > 0)));
        let mut text = format!("{:<1$}", fit("NAME", columns.name), columns.name);
        if columns.state > 0 {
            text += &format!(" {:<1$}", "STATE", columns.state);
        }
        text += &wide("SENT");
        text += &wide("RECVD");
        if columns.share > 0 {
            text += &format!(" {:>1$}", "SHARE", columns.share);
        }
        if columns.lost > 0 {
            text += &format!(" {:>1$}", "LOST", columns.lost);
        }
        Line::styled(text, Style::new().add_modifier(Modifier::REVERSED))
    }

    fn draw_body(&self, frame: &mut Frame<'_>, view: &View, columns: Columns, area: Rect) {
        let width = usize::from(area.width);
        let mut lines: Vec<Line<'_>> =
            view.bundles.iter().flat_map(|bundle| self.bundle(bundle, columns, width)).collect();
        if view.bundles.is_empty() {
            lines.push(Line::raw(match &self.only {
                Some(name) => fit(&format!("there is no bundle {name}"), width),
                None => fit("no bundles: no team, no bond, no bond of Open vSwitch", width),
            }));
        }
        let unseen = view.unseen.iter().map(|what| Line::raw(fit(&format!("not seen: {what}"), width)));
        lines.extend(unseen);
        // The last page is full, as far as there are lines.
        let scroll = self.scroll.min(lines.len().saturating_sub(usize::from(area.height)));
        let shown: Vec<Line<'_>> = lines.into_iter().skip(scroll).take(usize::from(area.height)).collect();
        frame.render_widget(Paragraph::new(shown), area);
    }

    fn draw_events(&self, frame: &mut Frame<'_>, view: &View, area: Rect) {
        let width = usize::from(area.width);
        let title = Line::styled(format!("{:<width$}", "EVENTS"), Style::new().add_modifier(Modifier::REVERSED));
        let room = usize::from(area.height.saturating_sub(1));
        let latest = view.events.iter().skip(view.events.len().saturating_sub(room));
        let line = |event: &crate::snapshot::Happening| {
            let seconds = event.unix_ms / 1000 % 86_400;
            let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
            Line::raw(fit(&format!("{time} {}: {}", event.team, event.text), width))
        };
        let lines: Vec<Line<'_>> = std::iter::once(title).chain(latest.map(line)).collect();
        frame.render_widget(Paragraph::new(lines), area);
    }

    fn keys(&self, width: usize) -> Line<'static> {
        let pause = if self.is_paused { "go on" } else { "pause" };
        let text = match width {
            70.. => format!("q quit  p {pause}  s sort  u unit  e events  up/down, PgUp/PgDn scroll"),
            _ => format!("q quit  p {pause}  s sort  u unit"),
        };
        Line::styled(fit(&text, width), self.style(Color::Cyan))
    }

    /// The lines of a bundle.
    fn bundle(&self, bundle: &BundleRow, columns: Columns, width: usize) -> Vec<Line<'static>> {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let style = if bundle.carrier { bold } else { bold.patch(self.style(Color::Red)) };
        let state = match bundle.carrier {
            true => format!("{}/{} up", bundle.up, bundle.members.len()),
            false => "NO CARRIER".to_owned(),
        };
        let [sent, received] = self.unit.of(&bundle.rate);
        let mut lines =
            vec![self.line(columns, &bundle.name, &state, [(sent, None), (received, None)], ["", ""], style)];
        let policy = if bundle.hash_policy.is_empty() { String::new() } else { format!(" {}", bundle.hash_policy) };
        let lacp = if bundle.lacp.is_empty() { String::new() } else { format!("  {}", bundle.lacp) };
        let what = format!("  {}: {}{policy}{lacp}", bundle.kind, bundle.mode);
        lines.push(Line::raw(fit(&what, width)));
        lines.extend(bundle.members.iter().map(|member| self.member(member, columns)));
        lines.extend(bundle.peers.iter().map(|peer| Line::raw(fit(&format!("  {peer}"), width))));
        let problem = |text: &String| Line::styled(fit(&format!("  ! {text}"), width), self.style(Color::Yellow));
        lines.extend(bundle.problems.iter().map(problem));
        lines
    }

    fn member(&self, member: &MemberRow, columns: Columns) -> Line<'static> {
        let [sent, received] = self.unit.of(&member.rate);
        // Of the link, where its speed is known; else of what all carry.
        let part = |bps: f64, share: f64| match member.speed_mbps {
            Some(mbps) if mbps > 0 => bps / (f64::from(mbps) * 1e6),
            _ => share,
        };
        let parts = [part(member.rate.tx_bps, member.tx_share), part(member.rate.rx_bps, member.rx_share)];
        let percent = |share: f64| format!("{:.0}", share * 100.0);
        let share = format!("{}/{}%", percent(member.tx_share), percent(member.rx_share));
        let state = match member.lacp.as_str() {
            "" | "aggregated" => member.state.clone(),
            churned if churned.ends_with("churned") => "churned".to_owned(),
            other if member.state == "sends" || member.state == "standby" => other.to_owned(),
            _ => member.state.clone(),
        };
        let style = match member.state.as_str() {
            "sends" => Style::new(),
            "standby" | "idle" => self.style(Color::Blue),
            _ => self.style(Color::Red),
        };
        let lost = if member.lost > 0 { short(member.lost as f64) } else { "0".to_owned() };
        let numbers = [(sent, Some(parts[0])), (received, Some(parts[1]))];
        self.line(columns, &format!("  {}", member.name), &state, numbers, [&share, &lost], style)
    }

    fn line(
        &self,
        columns: Columns,
        name: &str,
        state: &str,
        numbers: [(f64, Option<f64>); 2],
        [share, lost]: [&str; 2],
        style: Style,
    ) -> Line<'static> {
        let mut spans = vec![Span::styled(format!("{:<1$}", fit(name, columns.name), columns.name), style)];
        if columns.state > 0 {
            spans.push(Span::styled(format!(" {:<1$}", fit(state, columns.state), columns.state), style));
        }
        for (number, part) in numbers {
            spans.push(Span::raw(format!(" {:>NUMBER$}", short(number))));
            if columns.bar > 0 {
                let bar = part.map_or_else(|| " ".repeat(columns.bar), |part| bar(part, columns.bar));
                let colour = if part.is_some_and(|part| part > 0.9) { Color::Red } else { Color::Green };
                spans.push(Span::styled(format!(" {bar}"), self.style(colour)));
            }
        }
        if columns.share > 0 {
            spans.push(Span::raw(format!(" {share:>0$}", columns.share)));
        }
        if columns.lost > 0 {
            let style = if lost.is_empty() || lost == "0" { Style::new() } else { self.style(Color::Red) };
            spans.push(Span::styled(format!(" {lost:>0$}", columns.lost), style));
        }
        Line::from(spans)
    }

    fn style(&self, colour: Color) -> Style {
        if self.has_colour { Style::new().fg(colour) } else { Style::new() }
    }
}
