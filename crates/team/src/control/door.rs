//! The one door to a team: all that it can be told goes in by [`Team::apply`].

use nicteam_events::{Input, TeamError};
use nicteam_machine::Time;

use super::Team;

impl Team {
    /// Tells the team something.
    ///
    /// # Errors
    /// What the function refuses that it stands for; nothing has changed then.
    pub fn apply(&mut self, input: Input<'_>, now: Time) -> Result<(), TeamError> {
        match input {
            Input::Identity(identity) => self.set_identity(identity, now),
            Input::MarkProbes(mark) => self.mark_probes(mark),
            Input::BeginMembers => self.begin_members(),
            Input::Remember(answer, silence) => self.remember(answer, silence),
            Input::RememberActive(device) => self.remember_active(&device),
            Input::MembersComplete => self.members_complete(now),
            Input::AddMember(id, name, link) => return self.add_member_at(id, &name, link, now).map(drop),
            Input::RemoveMember(id) => return self.remove_member(id, now),
            Input::RenameMember(id, name) => return self.rename_member(id, &name),
            Input::EnableMember(id, enable) => return self.enable_member(id, enable, now),
            Input::Activate(id) => return self.activate(id, now),
            Input::Migrate(bucket, to) => return self.migrate(bucket, to, now),
            Input::Config(config) => return self.set_config(*config, now),
            Input::Links(links) => return self.handle_links(&links, now),
            Input::Frame(member, frame) => self.handle_frame(member, &frame, now),
            Input::Punted(frame) => self.handle_punted(&frame, now),
            Input::Timeout => self.handle_timeout(now),
            Input::Traffic(traffic) => self.handle_traffic(&traffic, now),
            Input::Groups(groups) => self.handle_groups(&groups, now),
            Input::Notes(notes) => self.handle_notes(&notes, now),
            Input::Plain(report) => self.handle_plain(&report, now),
            Input::Loads(loads) => self.handle_loads(&loads, now),
            Input::Sources(sources) => self.handle_sources(&sources, now),
            Input::Addresses(addresses) => self.handle_addresses(addresses),
            Input::Subnets(subnets) => self.handle_subnets(subnets),
            Input::Mac(mac) => self.handle_mac(mac),
            Input::MemberMac(id, mac) => self.handle_member_mac(id, mac),
        }
        Ok(())
    }
}
